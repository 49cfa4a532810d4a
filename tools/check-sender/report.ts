import { styleText } from 'node:util';
import { lines } from '../terminal/layout.ts';
import { SHORT_ID_LENGTH } from '../terminal/terminal.ts';
import { counted } from '../terminal/text.ts';
import type { Verdict } from './checker.ts';
import { type SentDelivery, seconds } from './deliveries.ts';
import type { Finding, Grade } from './finding.ts';

/** Maximum number of findings shown per request, of requests named, and of deliveries listed. `--json` has all. */
const MAX_SHOWN = 5;
/** Number of characters before the text of a finding: ` wrong `. */
const INDENT = 9;

type TextStyle = Parameters<typeof styleText>[0];

const GRADES: Readonly<Record<Grade, { readonly word: string; readonly style: TextStyle }>> = {
  wrong: { word: 'wrong', style: 'red' },
  risky: { word: 'risky', style: 'yellow' },
  fine: { word: 'note', style: 'dim' },
};

/** Whether nothing in the request is wrong. Something may be risky. */
export const isRight = ({ findings }: Pick<Verdict, 'findings'>) =>
  findings.every(({ grade }) => grade !== 'wrong');

/** A verdict for people: the result in one line, and its findings below. */
export function verdictText(verdict: Verdict, width: number): string[] {
  const { request, at, status, word = '', event = '', eventId, bytes, ending, findings } = verdict;
  const isSimulated = status !== undefined && ending !== status;
  const parts = [
    event,
    counted(bytes, 'byte'),
    eventId === undefined ? '' : `event ${eventId.slice(0, SHORT_ID_LENGTH)}`,
    isSimulated ? `the service would answer ${status} ${word}`.trimEnd() : '',
  ];
  const more = findings.length - MAX_SHOWN;
  const [mark, style]: [string, TextStyle] =
    status !== undefined && isRight(verdict) ? ['✓', 'green'] : ['✗', 'red'];
  return [
    [
      styleText(style, mark),
      styleText(
        'bold',
        status === undefined ? 'no request' : `${ending} ${isSimulated ? 'simulated' : word}`.trimEnd(),
      ),
      styleText('dim', `#${request}  ${at.toISOString().slice(11, 19)}`),
      parts.filter((part) => part !== '').join(' · '),
    ].join('  '),
    ...findings.slice(0, MAX_SHOWN).flatMap((finding) => findingText(finding, width)),
    ...(more > 0 ? [`${' '.repeat(INDENT)}and ${more} more: --json shows all`] : []),
  ];
}

function findingText({ grade, what, remedy, isNext = false }: Finding, width: number): string[] {
  const { word, style } = GRADES[grade];
  const indented = (text: string) =>
    lines(text, Math.max(20, width - INDENT)).map((line) => `${' '.repeat(INDENT)}${line}`);
  const [first = '', ...others] = indented(isNext ? `After you fix the signature: ${what}` : what);
  return [
    `  ${styleText(style, word.padEnd(INDENT - 2))}${first.trimStart()}`,
    ...others,
    ...(remedy === undefined ? [] : indented(`→ ${remedy}`)),
  ];
}

/** A mistake, how often it was made, and the first requests with it. */
type MistakeCount = Pick<Finding, 'grade' | 'kind' | 'what'> & { count: number; readonly requests: number[] };

/** Counts verdicts as they arrive, without storing them. */
export class Tally {
  readonly #statuses: Record<string, number> = {};
  readonly #mistakes = new Map<string, MistakeCount>();
  #right = 0;
  requests = 0;

  add(verdict: Verdict): void {
    this.requests += 1;
    if (isRight(verdict)) this.#right += 1;
    const status = verdict.status ?? 'none';
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    for (const { grade, kind, what } of verdict.findings) {
      if (grade === 'fine') continue;
      const mistake = this.#mistakes.get(kind) ?? { grade, kind, what, count: 0, requests: [] };
      mistake.count += 1;
      if (mistake.requests.length < MAX_SHOWN) mistake.requests.push(verdict.request);
      this.#mistakes.set(kind, mistake);
    }
  }

  /** @param isCut whether `--requests` or `--timeout` ended the run, so that repeats may still come */
  summary(deliveries: readonly SentDelivery[], isCut = false) {
    const repeated = deliveries.filter(({ attempts }) => attempts.length > 1);
    return {
      requests: this.requests,
      /** Number of requests without a mistake. */
      right: this.#right,
      /** Number of requests by status of the service's own answer. */
      statuses: this.#statuses,
      /** Mistakes, the worst and most frequent first. */
      mistakes: [...this.#mistakes.values()].sort(
        (a, b) => Number(a.grade === 'risky') - Number(b.grade === 'risky') || b.count - a.count,
      ),
      repeats: repeated.map(({ number, attempts, waits }) => ({
        delivery: number,
        endings: attempts.map(({ end }) => end?.how),
        /** Milliseconds. */
        waits: waits.map(Math.round),
      })),
      /** Number of deliveries that should have been repeated and were not. */
      unrepeated: deliveries.filter(({ wantsRepeat }) => wantsRepeat).length,
      isCut,
    };
  }
}

export type CheckSummary = ReturnType<Tally['summary']>;

/** Whether the run had requests, all requests were right, and every failure was repeated. */
export const isRightInAll = ({ requests, right, unrepeated }: CheckSummary) =>
  requests > 0 && right === requests && unrepeated === 0;

/** Whether no mistake has the grade `risky`. */
export const hasNoWarning = ({ mistakes }: CheckSummary) => mistakes.every(({ grade }) => grade !== 'risky');

export function summaryText(summary: CheckSummary, width: number): string[] {
  const { requests, right, mistakes, repeats, unrepeated, isCut } = summary;
  if (requests === 0) return ['No request arrived.'];
  const statuses = Object.entries(summary.statuses).map(
    ([status, count]) => `${status === 'none' ? 'no request' : status} ×${count.toLocaleString('en')}`,
  );
  const [mark, style] = isRightInAll(summary) ? (['✓', 'green'] as const) : (['✗', 'red'] as const);
  const late = isCut ? 'had not been sent again when the run ended' : 'was never sent again';
  return [
    `${styleText(style, `${mark} ${right} of ${counted(requests, 'request')} right.`)}  ${statuses.join(' · ')}`,
    ...mistakes.flatMap(({ grade, kind, what, count, requests: named }) => {
      const numbers = named.map((number) => `#${number}`).join(', ');
      const times = `${counted(count, 'request')}: ${numbers}${count > named.length ? ', …' : ''}`;
      return findingText({ grade, kind, what: `${what} (${times})` }, width);
    }),
    ...repeats.slice(0, MAX_SHOWN).flatMap(({ delivery, endings, waits }) => {
      const answers = endings.map((ending) => ending ?? 'no answer yet').join(', ');
      return lines(`Delivery ${delivery}: answers ${answers}; waits ${waits.map(seconds).join(', ')}`, width);
    }),
    ...(repeats.length > MAX_SHOWN ? [`and ${repeats.length - MAX_SHOWN} more: --json shows all`] : []),
    ...(unrepeated === 0
      ? []
      : [
          `${unrepeated === 1 ? '1 delivery' : `${unrepeated.toLocaleString('en')} deliveries`} should have been repeated, but ${late}.`,
        ]),
  ];
}
