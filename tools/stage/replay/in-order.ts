/** How often as much as runs at a time may be begun and not noted: what is slow holds up the rest then. */
const LINE = 8;

interface Entry {
  /** What is left to do of work that is done. */
  note: (() => void) | undefined;
}

/**
 * Work that is done some at a time and noted in the order in which it began: what is noted as done has nothing before
 * it that is not.
 */
export class InOrder {
  readonly #atATime: number;
  readonly #line: Entry[] = [];
  #running = 0;
  #failure: { readonly error: unknown } | undefined;
  #wake = () => {};

  constructor(atATime: number) {
    this.#atATime = atATime;
  }

  /**
   * Begins work once there is room for it, and not too much waits to be noted.
   * @param note called with what the work gave, once it and all before it are done
   * @throws what earlier work threw
   */
  async add<Result>(work: () => Promise<Result>, note: (result: Result) => void): Promise<void> {
    while (this.#isFull && !this.#failure) await this.#change();
    if (this.#failure) throw this.#failure.error;
    const entry: Entry = { note: undefined };
    this.#line.push(entry);
    this.#running += 1;
    void work()
      .then(
        (result) => {
          entry.note = () => note(result);
          this.#noteDone();
        },
        (error: unknown) => {
          this.#failure ??= { error };
        },
      )
      .finally(() => {
        this.#running -= 1;
        this.#wake();
      });
  }

  get #isFull(): boolean {
    return this.#running >= this.#atATime || this.#line.length >= this.#atATime * LINE;
  }

  /** Waits until all has ended. @throws what work threw */
  async end(): Promise<void> {
    while (this.#running > 0) await this.#change();
    if (this.#failure) throw this.#failure.error;
  }

  #noteDone(): void {
    for (let note = this.#line[0]?.note; note !== undefined; note = this.#line[0]?.note) {
      this.#line.shift();
      note();
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
