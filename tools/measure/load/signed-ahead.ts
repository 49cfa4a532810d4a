import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DeliveriesOptions, SignedSecond } from './deliveries.ts';
import type { SecondAsked } from './signer.ts';

/** Seconds that are signed before they are sent: memory stays flat, and a busy moment does no harm. */
const AHEAD = 3;

/** The deliveries of a run, second by second, signed by a thread of their own ahead of time. */
export class SignedAhead implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #rates: readonly number[];
  readonly #begin: number;
  readonly #ready: Promise<SignedSecond>[] = [];
  #asked = 0;

  /**
   * @param rates deliveries of each second
   * @param begin of the first second, epoch milliseconds
   */
  constructor(options: DeliveriesOptions, rates: readonly number[], begin: number) {
    this.#worker = new Worker(new URL('signer.ts', import.meta.url), { workerData: options });
    this.#worker.setMaxListeners(2 * AHEAD + 1);
    this.#rates = rates;
    this.#begin = begin;
    for (let second = 0; second < AHEAD; second += 1) this.#ask();
  }

  /** Waits until the first second can be sent. @throws Error where it cannot be made */
  async ready(): Promise<void> {
    await this.#ready[0];
  }

  /** @returns the next second's; undefined after the last. @throws Error where it cannot be made */
  async next(): Promise<SignedSecond | undefined> {
    const second = await this.#ready[0];
    this.#ready.shift();
    this.#ask();
    return second;
  }

  #ask(): void {
    const rate = this.#rates[this.#asked];
    if (rate === undefined) return;
    const begin = this.#begin + this.#asked * 1_000;
    this.#asked += 1;
    const before = this.#ready.at(-1) ?? Promise.resolve();
    const answer = before.then(async () => {
      this.#worker.postMessage({ rate, begin } satisfies SecondAsked);
      const [second] = (await once(this.#worker, 'message')) as [SignedSecond];
      return second;
    });
    // Whoever takes it is told; until then it is nobody's.
    answer.catch(() => {});
    this.#ready.push(answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
