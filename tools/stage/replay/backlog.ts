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

/**
 * Tracks the messages on an event's queue, so that a replay is never faster than the consumer.
 * @returns a function that waits until the queue may take `count` more messages, and counts them as sent. It calls
 * `onWait` with the reason at each wait, and throws AbortError if the signal ends the wait, CommandError if too many
 * messages stay in flight
 */
export function backlogOf(stack: Stage, event: EventName, maxWait = MAX_WAIT) {
  let polledAt = Number.NEGATIVE_INFINITY;
  /** SQS's count, plus the messages sent since the last poll. */
  let waiting = 0;
  let inFlight = 0;
  /** Since when too many messages are in flight. */
  let failingSince: number | undefined;

  async function poll(): Promise<void> {
    const state = await queueState(stack.sqs, stack.ofEvent(event, 'QueueUrl'));
    waiting = state.visible;
    inFlight = state.inFlight;
    polledAt = performance.now();
    if (inFlight > MAX_IN_FLIGHT) failingSince ??= polledAt;
    if (inFlight <= MAX_IN_FLIGHT * LOW) failingSince = undefined;
  }

  function reasonToWait(): string {
    if (failingSince === undefined) return `${waiting.toLocaleString('en')} wait on the queue of ${event}`;
    const fullFor = performance.now() - failingSince;
    const number = inFlight.toLocaleString('en');
    if (fullFor < maxWait) return `${number} of ${event} are in flight because attempts fail`;
    throw new CommandError(
      `${number} messages of ${event} have been in flight for ${duration(fullFor)}, so its consumer fails. Find the reason in its log and fix it`,
    );
  }

  return async (count: number, signal: AbortSignal, onWait: (reason: string) => void): Promise<void> => {
    const isFull = () => failingSince !== undefined || waiting + count > MAX_WAITING;
    const age = () => performance.now() - polledAt;
    if (age() >= POLL_INTERVAL) await poll();
    // The first wait is short: the consumer may have processed the messages sent since the last poll.
    for (let wait = Math.max(0, SHORTEST_INTERVAL - age()); isFull(); wait = POLL_INTERVAL) {
      await sleep(wait, undefined, { signal });
      await poll();
      if (isFull()) onWait(reasonToWait());
    }
    waiting += count;
  };
}
