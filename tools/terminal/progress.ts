import { type ProgressStep, progressText } from './text.ts';

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
