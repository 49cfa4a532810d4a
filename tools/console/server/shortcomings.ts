import { refusalOf } from '../../stage/work.ts';

/** What could not be found out, while the rest could: a line for each reason, with all that it keeps from being known. */
export class Shortcomings {
  readonly #local: boolean;
  readonly #subjects = new Map<string, string[]>();

  /** @param local whether the stack runs on this machine */
  constructor(local: boolean) {
    this.#local = local;
  }

  /**
   * @param subject what is asked for: `the queue of shop.updated`
   * @returns undefined where it may not be known
   * @throws what is a fault of the console itself
   */
  async unless<Known>(subject: string, asked: Promise<Known>): Promise<Known | undefined> {
    try {
      return await asked;
    } catch (error) {
      this.add(subject, refusalOf(error, this.#local));
      return undefined;
    }
  }

  add(subject: string, reason: string): void {
    this.#subjects.set(reason, [...(this.#subjects.get(reason) ?? []), subject]);
  }

  lines(): string[] {
    return [...this.#subjects].map(([reason, subjects]) => `${subjects.join(', ')}: ${reason}`);
  }
}
