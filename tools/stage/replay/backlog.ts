import { setTimeout as sleep } from 'node:timers/promises';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { duration } from '../../terminal/text.ts';
import { queueState } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';

/**
 * Number of an event's waiting messages at which a replay pauses. By default a consumer processes 20 batches of 10 at a
 * time, so the partner's next delivery waits for at most five rounds. SQS's counts are up to a minute late. If more
 * messages wait, SQS fair queues keep the replay's message group from delaying those of the shops.
 */
export const MAX_WAITING = 1_000;

/**
 * Number of messages in flight at which a replay pauses. A healthy consumer has a few hundred. A failed message is in
 * flight until its next attempt, for up to an hour. At 120,000 (SQS developer guide, "Standard queue quotas") a queue
 * delivers nothing, not even new deliveries. The limit is far below that, because SQS's counts are up to a minute late.
 */
export const MAX_IN_FLIGHT = 3_000;

/** Share of the limit below which the replay continues. */
const LOW = 0.5;

/** Milliseconds after which a paused replay stops. Messages that do not fail are processed by then. */
const MAX_WAIT = 5 * 60_000;

/** Minimum milliseconds between two polls of a queue, and the interval while the queue is full. */
const SHORTEST_INTERVAL = 100;
const POLL_INTERVAL = 1_000;

/** Tracks the messages on an event's queue, so that a replay is never faster than the consumer. */
export class Backlog {
  readonly #event: EventName;
  readonly #stack: Stage;
  readonly #maxWait: number;
  #polledAt = Number.NEGATIVE_INFINITY;
  /** SQS's count, plus the messages sent since the last poll. */
  #waiting = 0;
  #inFlight = 0;
  /** Since when too many messages are in flight. */
  #failingSince: number | undefined;

  constructor(stack: Stage, event: EventName, maxWait = MAX_WAIT) {
    this.#stack = stack;
    this.#event = event;
    this.#maxWait = maxWait;
  }

  /**
   * Waits until the queue may take some more messages, and counts them as sent.
   * @param onWait called with the reason at each wait
   * @throws AbortError if the signal ends the wait, CommandError if too many messages stay in flight
   */
  async waitForCapacity(count: number, signal: AbortSignal, onWait: (reason: string) => void): Promise<void> {
    const isFull = () => this.#failingSince !== undefined || this.#waiting + count > MAX_WAITING;
    const age = () => performance.now() - this.#polledAt;
    if (age() >= POLL_INTERVAL) await this.#poll();
    // The first wait is short: the consumer may have processed the messages sent since the last poll.
    for (let wait = Math.max(0, SHORTEST_INTERVAL - age()); isFull(); wait = POLL_INTERVAL) {
      await sleep(wait, undefined, { signal });
      await this.#poll();
      if (isFull()) onWait(this.#reason());
    }
    this.#waiting += count;
  }

  /**
   * Why the replay waits.
   * @throws CommandError if too many messages have been in flight for too long
   */
  #reason(): string {
    if (this.#failingSince === undefined) {
      return `${this.#waiting.toLocaleString('en')} wait on the queue of ${this.#event}`;
    }
    const fullFor = performance.now() - this.#failingSince;
    const inFlight = this.#inFlight.toLocaleString('en');
    if (fullFor < this.#maxWait) return `${inFlight} of ${this.#event} are in flight because attempts fail`;
    throw new CommandError(
      `${inFlight} messages of ${this.#event} have been in flight for ${duration(fullFor)}, so its consumer fails. Find the reason in its log and fix it`,
    );
  }

  async #poll(): Promise<void> {
    const { visible, inFlight } = await queueState(
      this.#stack.sqs,
      this.#stack.ofEvent(this.#event, 'QueueUrl'),
    );
    this.#waiting = visible;
    this.#inFlight = inFlight;
    this.#polledAt = performance.now();
    if (inFlight > MAX_IN_FLIGHT) this.#failingSince ??= this.#polledAt;
    if (inFlight <= MAX_IN_FLIGHT * LOW) this.#failingSince = undefined;
  }
}
