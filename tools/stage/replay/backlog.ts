import { setTimeout as sleep } from 'node:timers/promises';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';
import { duration } from '../../cli/terminal/text.ts';
import { queueState } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';

/**
 * Waiting messages of an event at which a replay holds. By default a consumer processes 20 batches of 10 at a time, so
 * the partner's next delivery waits for five rounds at most. SQS counts up to a minute late. If more are waiting, its
 * fair queues keep the group of the replay from delaying those of the shops.
 */
export const MAX_WAITING = 1_000;

/**
 * Messages in flight at which a replay holds. A healthy consumer has a few hundred. A message that failed is in flight
 * until its next attempt, for up to an hour. At 120,000 (SQS developer guide, "Standard queue quotas") a queue delivers
 * nothing, not even new deliveries. This leaves room for a count that is a minute late.
 */
export const MAX_IN_FLIGHT = 3_000;

/** Share of that limit below which it goes on. */
const LOW = 0.5;

/** Milliseconds for which it holds before it stops: messages that do not fail are processed by then. */
const LONGEST_HOLD = 5 * 60_000;

/** Milliseconds between two looks at a queue: the minimum, and while there is no room on it. */
const SHORTEST_INTERVAL = 100;
const LOOK_INTERVAL = 1_000;

const LIMITS = { waiting: MAX_WAITING, inFlight: MAX_IN_FLIGHT, hold: LONGEST_HOLD };

/** The messages on an event's queue, so that a replay is never faster than the consumer. */
export class Backlog {
  readonly event: EventName;
  readonly #stack: Stage;
  readonly #limits: typeof LIMITS;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Counted by SQS, with those sent since. */
  #waiting = 0;
  #inFlight = 0;
  /** Since when too many are in flight. */
  #failingSince: number | undefined;

  constructor(stack: Stage, event: EventName, limits: Partial<typeof LIMITS> = {}) {
    this.#stack = stack;
    this.event = event;
    this.#limits = { ...LIMITS, ...limits };
  }

  /**
   * Waits until there is room for some messages, which are then counted as sent.
   * @param onHold called with the reason each time that it waits
   * @throws AbortError if the signal ends the wait, CommandError if too many stay in flight
   */
  async room(count: number, signal: AbortSignal, onHold: (reason: string) => void): Promise<void> {
    const isFull = () => this.#failingSince !== undefined || this.#waiting + count > this.#limits.waiting;
    if (this.#age >= LOOK_INTERVAL) await this.#look();
    while (isFull()) {
      // What was sent since the last look may have been worked off.
      await sleep(Math.max(0, SHORTEST_INTERVAL - this.#age), undefined, { signal });
      await this.#look();
      if (!isFull()) break;
      onHold(this.#reason());
      await sleep(LOOK_INTERVAL, undefined, { signal });
    }
    this.#waiting += count;
  }

  get #age(): number {
    return performance.now() - this.#lookedAt;
  }

  /** @throws CommandError if too many have been in flight for too long */
  #reason(): string {
    if (this.#failingSince === undefined) {
      return `${this.#waiting.toLocaleString('en')} wait on the queue of ${this.event}`;
    }
    const heldFor = performance.now() - this.#failingSince;
    const inFlight = this.#inFlight.toLocaleString('en');
    if (heldFor < this.#limits.hold)
      return `${inFlight} of ${this.event} are in flight because attempts fail`;
    throw new CommandError(
      `${inFlight} messages of ${this.event} have been in flight for ${duration(heldFor)}, so its consumer fails. Find the reason in its log and fix it`,
    );
  }

  async #look(): Promise<void> {
    const { visible, inFlight } = await queueState(this.#stack.sqs, this.#stack.event(this.event).queueUrl);
    const { inFlight: most } = this.#limits;
    this.#waiting = visible;
    this.#inFlight = inFlight;
    this.#lookedAt = performance.now();
    if (inFlight > most) this.#failingSince ??= this.#lookedAt;
    if (inFlight <= most * LOW) this.#failingSince = undefined;
  }
}
