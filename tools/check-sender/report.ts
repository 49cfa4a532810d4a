import { styleText } from 'node:util';
import { lines } from '../terminal/layout.ts';
import { SHORT_ID_LENGTH } from '../terminal/terminal.ts';
import { counted } from '../terminal/text.ts';
import type { Verdict } from './checker.ts';
import type { Finding } from './finding.ts';

/** Number of characters before the text of a finding: ` wrong `. */
const INDENT = 9;

const STYLES = { wrong: 'red', risky: 'yellow', fine: 'dim' } as const;

/** Whether nothing in the request is wrong. Something may be risky. */
const isRight = ({ findings }: Verdict) => findings.every(({ grade }) => grade !== 'wrong');

const mark = (isGood: boolean) => styleText(isGood ? 'green' : 'red', isGood ? '✓' : '✗');

/** A verdict for people: the result in one line, and its findings below. */
export function verdictText(verdict: Verdict, width: number): string[] {
  const { request, at, status, word = '', event = '', eventId, bytes, ending, findings } = verdict;
  const isSimulated = status !== undefined && ending !== status;
  const result = status === undefined ? 'no request' : `${ending} ${isSimulated ? 'simulated' : word}`;
  const parts = [
    event,
    counted(bytes, 'byte'),
    eventId === undefined ? '' : `event ${eventId.slice(0, SHORT_ID_LENGTH)}`,
    isSimulated ? `the service would answer ${status} ${word}` : '',
  ];
  return [
    [
      mark(status !== undefined && isRight(verdict)),
      styleText('bold', result.trimEnd()),
      styleText('dim', `#${request}  ${at.toISOString().slice(11, 19)}`),
      parts.filter((part) => part !== '').join(' · '),
    ].join('  '),
    ...findings.flatMap((finding) => findingText(finding, width)),
  ];
}

function findingText({ grade, what, remedy, isNext = false }: Finding, width: number) {
  const indented = (text: string) =>
    lines(text, Math.max(20, width - INDENT)).map((line) => `${' '.repeat(INDENT)}${line}`);
  const [first = '', ...others] = indented(isNext ? `After you fix the signature: ${what}` : what);
  const word = (grade === 'fine' ? 'note' : grade).padEnd(INDENT - 2);
  return [
    `  ${styleText(STYLES[grade], word)}${first.trimStart()}`,
    ...others,
    ...(remedy === undefined ? [] : indented(`→ ${remedy}`)),
  ];
}

/** Counts verdicts as they arrive, without storing them. */
export class Tally {
  /** Number of findings by grade and kind: `wrong  json-reserialised`. */
  readonly #mistakes = new Map<string, number>();
  #right = 0;
  requests = 0;

  add(verdict: Verdict): void {
    this.requests += 1;
    if (isRight(verdict)) this.#right += 1;
    for (const { grade, kind } of verdict.findings) {
      const mistake = `${grade}  ${kind}`;
      if (grade !== 'fine') this.#mistakes.set(mistake, (this.#mistakes.get(mistake) ?? 0) + 1);
    }
  }

  /**
   * Whether the run had requests, all requests were right, and every failure was repeated.
   * @param unrepeated number of deliveries that should have been repeated and were not
   */
  isRight = (unrepeated: number) => this.requests > 0 && this.#right === this.requests && unrepeated === 0;

  text(unrepeated: number): string[] {
    if (this.requests === 0) return ['No request arrived.'];
    const mistakes = [...this.#mistakes].sort(([one], [other]) => other.localeCompare(one));
    const failed = unrepeated === 1 ? '1 failed delivery' : `${unrepeated} failed deliveries`;
    return [
      `${mark(this.isRight(unrepeated))} ${this.#right} of ${counted(this.requests, 'request')} right.`,
      ...mistakes.map(([mistake, count]) => `  ${mistake} ×${count}`),
      ...(unrepeated > 0 ? [`Not repeated until the end: ${failed}.`] : []),
    ];
  }
}
