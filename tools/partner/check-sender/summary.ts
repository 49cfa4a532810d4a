import type { Delivery } from './deliveries.ts';
import type { Grade } from './finding.ts';
import { hasFailed, type RepeatReport, repeatReport } from './repeats.ts';
import { isRight, type Verdict } from './verdict.ts';

/** One kind of mistake, and how often it was made. */
export interface MistakeCount {
  readonly grade: Exclude<Grade, 'fine'>;
  readonly kind: string;
  /** What it is, of the last request that had it. */
  readonly what: string;
  count: number;
}

/** All that was seen, in numbers. */
export interface Summary {
  readonly requests: number;
  /** Of them without anything wrong. */
  readonly right: number;
  /** Of the others those that were refused, and corrected since. */
  readonly corrected: number;
  /** Of them such that the service keeps the event, whatever was played. */
  readonly accepted: number;
  /** The service's own answers, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The most frequent first. */
  readonly mistakes: readonly MistakeCount[];
  /** Of the deliveries that came more than once. */
  readonly repeats: readonly RepeatReport[];
  /** Deliveries whose last answer asks for a repeat that did not come. */
  readonly unrepeated: number;
  /** Whether it ended by itself after so many requests: then repeats may have been on their way. */
  readonly isCut: boolean;
}

/** Counts verdicts as they come: it keeps none of them. */
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
    for (const { grade, kind, what } of verdict.findings) {
      if (grade === 'fine') continue;
      const key = `${grade} ${kind}`;
      this.#mistakes.set(key, { grade, kind, what, count: (this.#mistakes.get(key)?.count ?? 0) + 1 });
    }
  }

  get requests(): number {
    return this.#requests;
  }

  /** @param isCut whether it ended by itself after so many requests */
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
      unrepeated: deliveries.filter(wantsRepeat).length,
      isCut,
    };
  }
}

/** Whether something came, nothing of it was wrong or it was corrected, and all was repeated that had to be. */
export const isRightInAll = ({ requests, right, corrected, unrepeated, isCut }: Summary) =>
  requests > 0 && right + corrected === requests && (unrepeated === 0 || isCut);

function wantsRepeat({ attempts }: Delivery): boolean {
  const last = attempts.at(-1);
  return last?.end === undefined || hasFailed(last);
}
