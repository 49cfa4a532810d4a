import { duration } from './text.ts';

/** Milliseconds of work before its progress is shown. */
const MIN_DURATION = 1_000;

/** Milliseconds between two lines of progress, if the output is not a terminal. */
const LINE_INTERVAL = 10_000;

/** To the beginning of the line, which is erased. Source: ECMA-48, EL. */
const CLEAR_LINE = '\r\u001b[K';

export interface ProgressDisplay {
  /** Shows a step. May be called as often as the caller likes. */
  show(step: ProgressStep): void;
  end(): void;
}

/** Shows progress as one changing line on standard error, with the estimated remaining time. */
export class Progress implements ProgressDisplay {
  #begunAt: number | undefined;
  #doing: string | undefined;
  #startedAt = 0;
  #shownAt = Number.NEGATIVE_INFINITY;

  show(step: ProgressStep): void {
    const now = performance.now();
    this.#begunAt ??= now;
    if (step.doing !== this.#doing) {
      this.#doing = step.doing;
      this.#startedAt = now;
      this.#shownAt = Number.NEGATIVE_INFINITY;
    }
    if (now - this.#begunAt < MIN_DURATION) return;
    const line = progressText(step, now - this.#startedAt);
    if (process.stderr.isTTY) {
      process.stderr.write(`${CLEAR_LINE}${line.slice(0, process.stderr.columns - 1)}`);
    } else if (now - this.#shownAt >= LINE_INTERVAL) {
      this.#shownAt = now;
      process.stderr.write(`${line}\n`);
    }
  }

  end(): void {
    this.#begunAt = undefined;
    if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
  }
}

export interface ProgressStep {
  /** Verb phrase for the work, such as `Posting` or `Waiting for quiet`. */
  readonly doing: string;
  readonly done: number;
  readonly total: number;
  /** Unit of the counts, such as `rounds`. @default none */
  readonly unit?: string;
  /** More information in parentheses, such as `19 kills`. @default none */
  readonly note?: string;
}

/** Share of the work that must be done before the remaining time can be estimated. */
const ESTIMATED_FROM = 0.02;

/** Minimum remaining time in milliseconds to show. */
const MIN_ESTIMATE = 1_000;

/** @param elapsed milliseconds since the work began */
export function progressText({ doing, done, total, unit, note }: ProgressStep, elapsed: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const left = share === 0 ? 0 : (elapsed / share) * (1 - share);
  const isKnown = share >= ESTIMATED_FROM && left >= MIN_ESTIMATE;
  const count = [done.toLocaleString('en'), 'of', total.toLocaleString('en'), unit].filter(Boolean).join(' ');
  return [`${doing} ${Math.floor(share * 100)} %`, count, isKnown ? `about ${duration(left)} left` : '', note]
    .filter((part) => part !== undefined && part !== '')
    .join(' · ');
}
