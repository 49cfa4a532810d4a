import { styleText } from 'node:util';
import { lines } from '../terminal/layout.ts';
import { counted } from '../terminal/text.ts';
import type { Finding } from './finding.ts';
import { hasFailed, repeatReport, seconds } from './repeats.ts';
import type { SentDelivery } from './sent-deliveries.ts';
import { gradedText, isRight, type Verdict } from './verdict.ts';

/** Maximum number of requests, answers and waits in a list. */
const MAX_SHOWN = 8;
/** Maximum number of deliveries whose retries are listed. */
const MAX_REPEATS = 20;

/** A mistake, how often it was made, and the first requests with it. */
type MistakeCount = Pick<Finding, 'grade' | 'kind' | 'what'> & {
  readonly count: number;
  readonly requests: number[];
};

/** Counts verdicts as they arrive, without storing them. */
export class Tally {
  readonly #statuses: Record<string, number> = {};
  readonly #mistakes = new Map<string, MistakeCount>();
  #right = 0;
  #corrected = 0;
  requests = 0;

  add(verdict: Verdict): void {
    this.requests += 1;
    if (isRight(verdict)) {
      this.#right += 1;
      this.#corrected += verdict.corrects ?? 0;
    }
    const status = verdict.status ?? 'none';
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    // Mistakes of one kind in several fields count separately. Different numbers in a text do not.
    const mistakes = new Map(
      verdict.findings.map((finding) => [`${finding.kind} ${finding.what.replaceAll(/\d+/g, '0')}`, finding]),
    );
    for (const [key, { grade, kind, what }] of mistakes) {
      if (grade === 'fine') continue;
      const { count, requests } = this.#mistakes.get(key) ?? { count: 0, requests: [] };
      const named = [...requests, verdict.request].slice(0, MAX_SHOWN);
      this.#mistakes.set(key, { grade, kind, what, count: count + 1, requests: named });
    }
  }

  /**
   * @param isCut whether `--requests` or `--timeout` ended the run, so that further retries may have been
   * missed
   */
  summary(deliveries: readonly SentDelivery[], isCut = false) {
    return {
      requests: this.requests,
      /** Number of requests without a mistake. */
      right: this.#right,
      /** Number of rejected requests that were corrected later. */
      corrected: this.#corrected,
      /** Number of requests whose event the service would accept, whatever answer was simulated. */
      accepted: this.#statuses[200] ?? 0,
      /** Number of requests by status of the service's own answer. */
      statuses: this.#statuses,
      /** Mistakes, the worst and most frequent first. */
      mistakes: [...this.#mistakes.values()].sort(
        (a, b) => Number(a.grade === 'risky') - Number(b.grade === 'risky') || b.count - a.count,
      ),
      repeats: deliveries.filter(({ attempts }) => attempts.length > 1).map(repeatReport),
      /** Number of deliveries that should have been retried and were not. */
      unrepeated: deliveries.filter((delivery) => wantsRepeat(delivery, isCut)).length,
      isCut,
    };
  }
}

export type CheckSummary = ReturnType<Tally['summary']>;

/**
 * Whether a delivery should have been retried after its last request.
 * @param isCut whether requests without an answer were not counted
 */
function wantsRepeat({ attempts }: SentDelivery, isCut: boolean): boolean {
  const answered = attempts.filter(({ end }) => end !== undefined);
  // Every answer counts, and not only the last: any of several parallel requests may be the accepted one.
  return answered.every(hasFailed) && !(isCut && answered.length < attempts.length);
}

/** Whether the run had requests, all requests were right or were corrected, and every failure was retried. */
export const isRightInAll = ({ requests, right, corrected, unrepeated }: CheckSummary) =>
  requests > 0 && right + corrected === requests && unrepeated === 0;

/** Whether no mistake has the grade `risky`. */
export const hasNoWarning = ({ mistakes }: CheckSummary) => mistakes.every(({ grade }) => grade !== 'risky');

export function summaryText(summary: CheckSummary, width: number): string[] {
  const { requests, accepted, mistakes, repeats, unrepeated } = summary;
  if (requests === 0) return ['No request arrived.'];
  const text = `${outcomeText(summary)}.`;
  const outcome = isRightInAll(summary) ? styleText('green', `✓ ${text}`) : styleText('red', `✗ ${text}`);
  const statuses = Object.entries(summary.statuses).map(
    ([status, count]) => `${status === 'none' ? 'no request' : status} ×${count.toLocaleString('en')}`,
  );
  const more = repeats.length - MAX_REPEATS;
  const all = unrepeated === 1 ? '1 delivery' : `${unrepeated.toLocaleString('en')} deliveries`;
  const late = summary.isCut ? 'had not been sent again when the run ended' : 'was never sent again';
  return [
    `${outcome}  ${accepted.toLocaleString('en')} accepted · ${statuses.join(' · ')}`,
    ...mistakes.flatMap(({ grade, what, count, requests }) => {
      const numbers = requests.map((number) => `#${number}`);
      return gradedText(grade, `${what} (${counted(count, 'request')}: ${listed(numbers, count)})`, width);
    }),
    ...repeats.slice(0, MAX_REPEATS).flatMap((report) => lines(repeatText(report), width)),
    ...(more > 0 ? [`and ${more} more: --json shows all`] : []),
    ...(unrepeated === 0 ? [] : [`${all} should have been repeated after the last answer, but ${late}.`]),
  ];
}

/** The result in words, such as `1 of 2 requests was wrong, and corrected later`. */
function outcomeText(summary: CheckSummary): string {
  const { requests, right, corrected } = summary;
  const wrong = requests - right;
  const all = requests === 1 ? 'The request was' : `All ${requests.toLocaleString('en')} requests were`;
  const some = `${wrong.toLocaleString('en')} of ${counted(requests, 'request')} ${wrong === 1 ? 'was' : 'were'}`;
  const later = corrected === wrong ? 'corrected' : `${corrected.toLocaleString('en')} of them corrected`;
  return [
    wrong === 0 ? `${all} right` : `${some} wrong`,
    ...(corrected === 0 ? [] : [`${later} later`]),
    ...(corrected === wrong && !isRightInAll(summary) ? ['not always repeated when required'] : []),
  ].join(', and ');
}

function repeatText(report: CheckSummary['repeats'][number]): string {
  const { delivery, requests, endings, waits, backOff, isSameBytes, isSameSignature, reused } = report;
  const answers = listed(endings.map((ending) => String(ending ?? 'no answer yet')));
  return [
    `Delivery ${delivery}: answers ${answers}`,
    `waits ${listed(waits.map(seconds))}${backOff === undefined ? '' : ` (${backOff})`}`,
    isSameBytes ? 'same bytes' : styleText('yellow', 'changed bytes'),
    isSameSignature ? 'same signature' : 'changed signature',
    reused === 0 ? 'a new connection each time' : `${reused} of ${requests} requests on a reused connection`,
  ].join('; ');
}

/** @param count total number, if `words` contains only the first ones */
function listed(words: readonly string[], count = words.length): string {
  const shown = words.slice(0, MAX_SHOWN);
  return [...shown, ...(count > shown.length ? [`… ${count - shown.length} more`] : [])].join(', ');
}
