import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueState } from '../dead-letters/queue.ts';

/**
 * Messages that wait on an event's queue at which a replay holds: the 20 batches of 10 that a consumer takes at a time
 * by default work them off in five rounds, so nothing that the partner delivers waits behind more. Above it SQS, too,
 * keeps the group of the replay from delaying the shops', as SQS counts up to a minute late.
 */
export const MOST_WAITING = 1_000;

/** Milliseconds between two looks at a queue: at the least, and while there is no room on it. */
const SHORTEST_INTERVAL = 100;
const LOOK_INTERVAL = 1_000;

/** What waits on an event's queue, so that a replay never outruns what works it off. */
export class Backlog {
  readonly #sqs: SQSClient;
  readonly #url: string;
  readonly #most: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** As SQS counted it, and what was sent since. */
  #waiting = 0;

  constructor(sqs: SQSClient, url: string, most = MOST_WAITING) {
    this.#sqs = sqs;
    this.#url = url;
    this.#most = most;
  }

  /**
   * Waits until there is room for some messages, which are then counted as sent.
   * @param onHold told how many wait, as often as it had to wait for room
   * @throws AbortError where the signal ends the wait
   */
  async room(count: number, signal: AbortSignal, onHold: (waiting: number) => void): Promise<void> {
    const isFull = () => this.#waiting + count > this.#most;
    if (this.#age >= LOOK_INTERVAL) await this.#look();
    while (isFull()) {
      // What was sent since the last look may have been worked off.
      await sleep(Math.max(0, SHORTEST_INTERVAL - this.#age), undefined, { signal });
      await this.#look();
      if (!isFull()) break;
      onHold(this.#waiting);
      await sleep(LOOK_INTERVAL, undefined, { signal });
    }
    this.#waiting += count;
  }

  get #age(): number {
    return performance.now() - this.#lookedAt;
  }

  async #look(): Promise<void> {
    this.#waiting = (await queueState(this.#sqs, this.#url)).visible;
    this.#lookedAt = performance.now();
  }
}
