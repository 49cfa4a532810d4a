import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Size of the bucket, in seconds of the rate. With a smaller bucket, timers are not precise enough for the highest
 * rate.
 */
const BURST_SECONDS = 0.1;

/** Token bucket: limits a rate and allows short bursts. */
export class TokenBucket {
  /** Maximum tokens in the bucket. */
  readonly burst: number;
  readonly #rate: number;
  #tokens: number;
  #filledAt = performance.now();

  /** @param rate tokens a second */
  constructor(rate: number) {
    this.#rate = rate;
    this.burst = Math.max(1, Math.ceil(rate * BURST_SECONDS));
    this.#tokens = this.burst;
  }

  /**
   * Takes tokens, and waits until there are enough. Callers are served in order.
   * @throws AbortError if the signal ends the wait
   */
  async take(count: number, signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const filled = this.#tokens + ((now - this.#filledAt) / 1000) * this.#rate;
    this.#filledAt = now;
    this.#tokens = Math.min(this.burst, filled) - count;
    if (this.#tokens < 0) await sleep((-this.#tokens / this.#rate) * 1000, undefined, { signal });
  }
}
