import type { Delivery, Ending } from './deliveries.ts';
import type { Diagnosis } from './diagnose.ts';
import type { Finding, Grade } from './finding.ts';
import { hasFailed, type RepeatReport, repeatReport } from './repeats.ts';

/** Maximum number of requests named per mistake. */
const MAX_REQUESTS_NAMED = 8;

/** The verdict on one request, or on a connection without a request. */
export interface Verdict {
  /** From 1, in the order of arrival. */
  readonly number: number;
  readonly at: Date;
  /** A standard HTTP method. Undefined if there was no request. */
  readonly method: string | undefined;
  /** Bytes of the body that arrived. */
  readonly bytes: number;
  /** Undefined if the request was never complete. */
  readonly diagnosis: Diagnosis | undefined;
  /** The answer that was sent. It differs from the diagnosis if another response was simulated. */
  readonly ending: Ending;
  /** From the beginning of the request to the end of its answer. */
  readonly milliseconds: number;
  readonly connection: number;
  readonly isReused: boolean;
  /** The delivery, and the number of the request within it. Undefined if it did not reach the receiver. */
  readonly delivery:
    | {
        readonly number: number;
        readonly attempt: number;
        /** Number of rejected requests that this accepted one corrects. */
        readonly corrects: number;
      }
    | undefined;
  readonly findings: readonly Finding[];
}

/** Whether nothing is wrong with it. Something may be risky. */
export const isRight = ({ findings }: Pick<Verdict, 'findings'>) =>
  findings.every(({ grade }) => grade !== 'wrong');

export interface MistakeCount {
  readonly grade: Exclude<Grade, 'fine'>;
  readonly kind: string;
  /** Numbers in it, such as seconds, are those of the last request. */
  readonly what: string;
  readonly count: number;
  /** The first requests that made it. */
  readonly requests: readonly number[];
}

export interface Summary {
  readonly requests: number;
  /** Requests with nothing wrong. */
  readonly right: number;
  /** Rejected requests that were corrected later. */
  readonly corrected: number;
  /** Requests whose event the service would keep, whatever response was simulated. */
  readonly accepted: number;
  /** The service's own answers, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The worst and most frequent first. */
  readonly mistakes: readonly MistakeCount[];
  /** For each delivery that was sent more than once. */
  readonly repeats: readonly RepeatReport[];
  /** Deliveries whose answers ask for a repeat that did not come. */
  readonly unrepeated: number;
  /** Whether `--requests` or `--timeout` ended the run, so that later repeats may be missing. */
  readonly isCut: boolean;
}

/** Counts verdicts as they come, without storing them. */
export class Tally {
  readonly #statuses: Record<string, number> = {};
  readonly #mistakes = new Map<string, MistakeCount>();
  #requests = 0;
  #right = 0;
  #corrected = 0;
  #accepted = 0;

  add(verdict: Verdict): void {
    this.#requests += 1;
    if (isRight(verdict)) {
      this.#right += 1;
      this.#corrected += verdict.delivery?.corrects ?? 0;
    }
    const status = verdict.diagnosis?.status;
    if (status === 200) this.#accepted += 1;
    const name = status === undefined ? 'none' : String(status);
    this.#statuses[name] = (this.#statuses[name] ?? 0) + 1;
    // One kind may concern several fields, and each counts as a mistake. Numbers in the text differ between requests.
    const mistakes = new Map(
      verdict.findings.map((finding) => [`${finding.kind} ${finding.what.replaceAll(/\d+/g, '0')}`, finding]),
    );
    for (const [key, { grade, kind, what }] of mistakes) {
      if (grade === 'fine') continue;
      const { count = 0, requests = [] } = this.#mistakes.get(key) ?? {};
      this.#mistakes.set(key, {
        grade,
        kind,
        what,
        count: count + 1,
        requests: [...requests, verdict.number].slice(0, MAX_REQUESTS_NAMED),
      });
    }
  }

  get requests(): number {
    return this.#requests;
  }

  /** @param isCut whether `--requests` or `--timeout` ended the run */
  summary(deliveries: readonly Delivery[], isCut = false): Summary {
    return {
      requests: this.#requests,
      right: this.#right,
      corrected: this.#corrected,
      accepted: this.#accepted,
      statuses: this.#statuses,
      mistakes: [...this.#mistakes.values()].sort(
        (a, b) => Number(a.grade === 'risky') - Number(b.grade === 'risky') || b.count - a.count,
      ),
      repeats: deliveries.filter(({ count }) => count > 1).map(repeatReport),
      unrepeated: deliveries.filter((delivery) => wantsRepeat(delivery, isCut)).length,
      isCut,
    };
  }
}

/** Whether there were requests, all were right or were corrected, and every failure was repeated. */
export const isRightInAll = ({ requests, right, corrected, unrepeated }: Summary) =>
  requests > 0 && right + corrected === requests && unrepeated === 0;

/** Whether nothing is risky either. */
export const hasNoWarning = ({ mistakes }: Summary) => mistakes.every(({ grade }) => grade !== 'risky');

/** @param isCut whether requests without an answer were left out */
function wantsRepeat({ attempts }: Delivery, isCut: boolean): boolean {
  const answered = attempts.filter(({ end }) => end !== undefined);
  // Of requests in parallel, the last one need not be the accepted one.
  return answered.every(hasFailed) && !(isCut && answered.length < attempts.length);
}
