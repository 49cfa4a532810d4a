import type { Notice } from '../console/api.ts';

/** Milliseconds after which a notice says that work is running. */
const SLOW = 2_000;

export type NoticeSubject = 'code' | 'stack' | 'types';

/** Reports the outcome of each save. The same error is reported once, until it is fixed. */
export class Notices {
  readonly #onNotice: (notice: Notice) => void;
  /** The last error of each subject that is not fixed. */
  readonly #lastErrors = new Map<NoticeSubject, string>();
  #hasMistake: boolean;
  #isClosed = false;

  /** @param hasMistake whether an error was reported before a restart and is not fixed */
  constructor(onNotice: (notice: Notice) => void, hasMistake: boolean) {
    this.#onNotice = onNotice;
    this.#hasMistake = hasMistake;
  }

  /** Whether an error was reported that is not fixed. */
  get hasMistake(): boolean {
    return this.#hasMistake;
  }

  /** Ends the announcements of work: at the end, work that is still running must not be announced. */
  close(): void {
    this.#isClosed = true;
  }

  info(about: NoticeSubject, text: string): void {
    this.#onNotice({ about, level: 'info', text });
  }

  error(about: NoticeSubject, text: string): void {
    this.#hasMistake = true;
    if (this.#lastErrors.get(about) === text) return;
    this.#lastErrors.set(about, text);
    // Type errors that remain are reported again, so that the fix of this error does not look like a fix of type
    // errors.
    if (about !== 'types') this.#lastErrors.delete('types');
    this.#onNotice({ about, level: 'error', text });
  }

  /** Reports that everything is fixed, if this was the last error left. */
  fixed(about: NoticeSubject): void {
    this.#lastErrors.delete(about);
    if (about !== 'types' || !this.#hasMistake || this.#lastErrors.size > 0) return;
    this.#hasMistake = false;
    this.info('types', 'Fixed: all saved code builds, and its types are correct');
  }

  /**
   * Announces work that takes long. The outcome of the work is then reported even if it is the same as before, because
   * the announcement has replaced the earlier outcome in the console.
   */
  async announceIfSlow<T>(about: NoticeSubject, text: string, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      if (this.#isClosed) return;
      this.#lastErrors.delete(about);
      this.info(about, text);
    }, SLOW);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  }
}
