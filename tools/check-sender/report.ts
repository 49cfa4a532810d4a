import { styleText } from 'node:util';
import { lines } from '../terminal/layout.ts';
import { SHORT_ID_LENGTH } from '../terminal/terminal.ts';
import { counted } from '../terminal/text.ts';
import type { Verdict } from './checker.ts';
import { type SentDelivery, seconds, waitsOf, wantsRepeat } from './deliveries.ts';
import type { Finding, Grade } from './finding.ts';

/** Maximum number of deliveries listed in the summary. `--json` has all. */
const MAX_SHOWN = 5;
/** Number of characters before the text of a finding: ` wrong `. */
const INDENT = 9;

const STYLES = { wrong: 'red', risky: 'yellow', fine: 'dim' } as const;

/** Whether nothing in the request is wrong. Something may be risky. */
export const isRight = ({ findings }: Pick<Verdict, 'findings'>) =>
  findings.every(({ grade }) => grade !== 'wrong');

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

function findingText(finding: Pick<Finding, 'grade' | 'what' | 'remedy' | 'isNext'>, width: number) {
  const { grade, what, remedy, isNext = false } = finding;
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

interface MistakeCount {
  readonly grade: Grade;
  readonly kind: string;
  readonly what: string;
  count: number;
}

/** Counts verdicts as they arrive, without storing them. */
export class Tally {
  readonly #statuses: Record<string, number> = {};
  readonly #mistakes = new Map<string, MistakeCount>();
  #right = 0;
  requests = 0;

  add(verdict: Verdict): void {
    this.requests += 1;
    if (isRight(verdict)) this.#right += 1;
    const status = verdict.status ?? 'no request';
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    for (const { grade, kind, what } of verdict.findings) {
      if (grade === 'fine') continue;
      const mistake = this.#mistakes.get(kind) ?? { grade, kind, what, count: 0 };
      mistake.count += 1;
      this.#mistakes.set(kind, mistake);
    }
  }

  summary(deliveries: readonly SentDelivery[]) {
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
      repeats: repeated.map((delivery) => ({
        delivery: delivery.number,
        endings: delivery.attempts.map(({ end }) => end?.how),
        /** Milliseconds. */
        waits: waitsOf(delivery).map(Math.round),
      })),
      /** Number of deliveries that should have been repeated and were not. */
      unrepeated: deliveries.filter(wantsRepeat).length,
    };
  }
}

type CheckSummary = ReturnType<Tally['summary']>;

/** Whether the run had requests, all requests were right, and every failure was repeated. */
export const isRightInAll = ({ requests, right, unrepeated }: CheckSummary) =>
  requests > 0 && right === requests && unrepeated === 0;

/** Whether no mistake has the grade `risky`. */
export const hasNoWarning = ({ mistakes }: CheckSummary) => mistakes.every(({ grade }) => grade !== 'risky');

export function summaryText(summary: CheckSummary, width: number): string[] {
  const { requests, right, mistakes, repeats, unrepeated } = summary;
  if (requests === 0) return ['No request arrived.'];
  const statuses = Object.entries(summary.statuses).map(([status, count]) => `${status} ×${count}`);
  const more = repeats.length - MAX_SHOWN;
  return [
    `${mark(isRightInAll(summary))} ${right} of ${counted(requests, 'request')} right.  ${statuses.join(' · ')}`,
    ...mistakes.flatMap(({ grade, what, count }) =>
      findingText({ grade, what: `${what} (${counted(count, 'request')})` }, width),
    ),
    ...repeats.slice(0, MAX_SHOWN).flatMap(({ delivery, endings, waits }) => {
      const answers = endings.map((ending) => ending ?? 'no answer yet').join(', ');
      return lines(`Delivery ${delivery}: answers ${answers}; waits ${waits.map(seconds).join(', ')}`, width);
    }),
    ...(more > 0 ? [`and ${more} more: --json shows all`] : []),
    ...(unrepeated > 0
      ? [
          `Not repeated until the end: ${unrepeated === 1 ? '1 failed delivery' : `${unrepeated} failed deliveries`}.`,
        ]
      : []),
  ];
}
