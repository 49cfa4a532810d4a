/** How many execution environments several functions may have together, beyond the first one of each. */
export class SharedEnvironments {
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  /** @returns whether one was left, which then is the caller's */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  giveBack(): void {
    this.#left += 1;
  }
}
