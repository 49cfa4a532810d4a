import { type ProgressStep, progressText } from './text.ts';

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
  readonly #stream: NodeJS.WriteStream;
  #doing: string | undefined;
  #startedAt = 0;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  show(step: ProgressStep): void {
    const now = performance.now();
    const isNew = step.doing !== this.#doing;
    if (isNew) {
      this.#doing = step.doing;
      this.#startedAt = now;
    }
    const line = progressText(step, now - this.#startedAt);
    if (this.#stream.isTTY) {
      this.#stream.write(`${CLEAR_LINE}${line.slice(0, this.#stream.columns - 1)}`);
    } else if (isNew || now - this.#shownAt >= LINE_INTERVAL) {
      this.#shownAt = now;
      this.#stream.write(`${line}\n`);
    }
  }

  end(): void {
    if (this.#stream.isTTY) this.#stream.write(CLEAR_LINE);
  }
}

/** Milliseconds of work before its progress is shown. */
const MIN_DURATION = 1_000;

/** A display that shows nothing for work that takes less than a second. */
export function lateProgress(): ProgressDisplay {
  const progress = new Progress();
  let begun: number | undefined;
  return {
    show(step) {
      begun ??= performance.now();
      if (performance.now() - begun > MIN_DURATION) progress.show(step);
    },
    end() {
      begun = undefined;
      progress.end();
    },
  };
}
