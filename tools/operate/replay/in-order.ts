/**
 * Work that is done some at a time and noted in the order in which it began: what is noted as done has nothing before
 * it that is not.
 */
export class InOrder {
  readonly #atATime: number;
  readonly #line: { done: boolean; readonly note: () => void }[] = [];
  #running = 0;
  #failure: { readonly error: unknown } | undefined;
  #wake = () => {};

  constructor(atATime: number) {
    this.#atATime = atATime;
  }

  /**
   * Begins work once there is room for it.
   * @param note called once this work and all before it are done
   * @throws what earlier work threw
   */
  async add(work: () => Promise<void>, note: () => void): Promise<void> {
    while (this.#running >= this.#atATime && !this.#failure) await this.#change();
    if (this.#failure) throw this.#failure.error;
    const entry = { done: false, note };
    this.#line.push(entry);
    this.#running += 1;
    void work()
      .then(
        () => {
          entry.done = true;
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

  /** Waits until all has ended. @throws what work threw */
  async end(): Promise<void> {
    while (this.#running > 0) await this.#change();
    if (this.#failure) throw this.#failure.error;
  }

  #noteDone(): void {
    while (this.#line[0]?.done) this.#line.shift()?.note();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
