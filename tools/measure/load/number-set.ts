/** Numbers from 0 up to a limit, a bit each: a run of hours has hundreds of millions. */
export class NumberSet {
  readonly #bits: Uint8Array;
  #size = 0;

  constructor(limit: number) {
    this.#bits = new Uint8Array(Math.ceil(limit / 8));
  }

  get size(): number {
    return this.#size;
  }

  has(number: number): boolean {
    return ((this.#bits[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }

  /** @returns whether it is new */
  add(number: number): boolean {
    const index = number >> 3;
    if (index >= this.#bits.length || this.has(number)) return false;
    this.#bits[index] = (this.#bits[index] ?? 0) | (1 << (number & 7));
    this.#size += 1;
    return true;
  }
}
