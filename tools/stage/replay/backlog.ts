import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { duration } from '../../terminal/text.ts';
import { queueState } from '../queues/queue.ts';

/**
 * Messages that wait on an event's queue at which a replay holds: the 20 batches of 10 that a consumer takes at a time
 * by default work them off in five rounds, so nothing that the partner delivers waits behind more. Above it SQS, too,
 * keeps the group of the replay from delaying the shops', as SQS counts up to a minute late.
 */
export const MOST_WAITING = 1_000;

/**
 * Messages in flight at which a replay holds. A consumer that works has a few hundred in hand; what fails is hidden, and
 * so in flight, until its next attempt, for up to an hour. At 120,000 (SQS developer guide, "Standard queue quotas") a
 * queue gives out nothing any more, not what the partner delivers either: this leaves room for a minute's late count.
 */
export const MOST_IN_FLIGHT = 3_000;

/** Share of them to which they must fall before it goes on, so that a queue of failures does not let some through. */
const LOW = 0.5;

/** Milliseconds for which it holds so: work that does not fail is done by then, and more would only fail, too. */
const LONGEST_HOLD = 5 * 60_000;

/** Milliseconds between two looks at a queue: at the least, and while there is no room on it. */
const SHORTEST_INTERVAL = 100;
const LOOK_INTERVAL = 1_000;

interface Limits {
  /** Messages. */
  readonly waiting: number;
  readonly inFlight: number;
  /** Milliseconds. */
  readonly hold: number;
}

const LIMITS: Limits = { waiting: MOST_WAITING, inFlight: MOST_IN_FLIGHT, hold: LONGEST_HOLD };

/** What is on an event's queue, so that a replay never outruns what works it off. */
export class Backlog {
  readonly #sqs: SQSClient;
  readonly #url: string;
  readonly #event: EventName;
  readonly #limits: Limits;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** As SQS counted it, and what was sent since. */
  #waiting = 0;
  #inFlight = 0;
  /** Since when too many are in flight. */
  #failingSince: number | undefined;

  constructor(sqs: SQSClient, url: string, event: EventName, limits: Partial<Limits> = {}) {
    this.#sqs = sqs;
    this.#url = url;
    this.#event = event;
    this.#limits = { ...LIMITS, ...limits };
  }

  /**
   * Waits until there is room for some messages, which are then counted as sent.
   * @param onHold told why it holds, as often as it had to wait for room
   * @throws AbortError where the signal ends the wait, CommandError where too many stay in flight
   */
  async room(count: number, signal: AbortSignal, onHold: (reason: string) => void): Promise<void> {
    const isFull = () => this.#failingSince !== undefined || this.#waiting + count > this.#limits.waiting;
    if (this.#age >= LOOK_INTERVAL) await this.#look();
    while (isFull()) {
      // What was sent since the last look may have been worked off.
      await sleep(Math.max(0, SHORTEST_INTERVAL - this.#age), undefined, { signal });
      await this.#look();
      if (!isFull()) break;
      this.#refuseToGoOnFailing();
      onHold(this.#reason);
      await sleep(LOOK_INTERVAL, undefined, { signal });
    }
    this.#waiting += count;
  }

  get #age(): number {
    return performance.now() - this.#lookedAt;
  }

  get #reason(): string {
    return this.#failingSince === undefined
      ? `${this.#waiting.toLocaleString('en')} wait on the queue of ${this.#event}`
      : `${this.#inFlight.toLocaleString('en')} of ${this.#event} are in flight: attempts fail`;
  }

  #refuseToGoOnFailing(): void {
    if (this.#failingSince === undefined) return;
    const held = performance.now() - this.#failingSince;
    if (held < this.#limits.hold) return;
    throw new CommandError(
      `${this.#inFlight.toLocaleString('en')} messages of ${this.#event} have been in flight for ${duration(held)}, so its consumer fails: see why, and mend it`,
    );
  }

  async #look(): Promise<void> {
    const { visible, inFlight } = await queueState(this.#sqs, this.#url);
    const { inFlight: most } = this.#limits;
    this.#waiting = visible;
    this.#inFlight = inFlight;
    this.#lookedAt = performance.now();
    if (inFlight > most) this.#failingSince ??= this.#lookedAt;
    if (inFlight <= most * LOW) this.#failingSince = undefined;
  }
}
