import { setTimeout as sleep } from 'node:timers/promises';
import { HeadObjectCommand, NotFound } from '@aws-sdk/client-s3';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { duration } from '../../terminal/text.ts';
import type { ArchiveDamage } from '../archive/archive-object.ts';
import { listArchive, readObjects, type StoredObject } from '../archive/read-archive.ts';
import { queueState } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';
import { type ReplayRequest, replayRecords, type UnsentCounts } from './replay-plan.ts';
import { BATCH_BYTES, batchesOf, type ReplayMessage, replayMessage, sendBatch } from './send-batch.ts';
import { TokenBucket } from './token-bucket.ts';

/** Maximum messages that are sent at the same time, and their bytes, which are in memory. */
const GROUP_MESSAGES = 250;
const GROUP_BYTES = 16 * BATCH_BYTES;

/** Sends the records of a replay's window, and counts what it has sent and skipped. */
export class ReplaySender {
  /** Number of messages sent, by event. */
  readonly sent: Partial<Record<EventName, number>> = {};
  readonly skipped: UnsentCounts = {};
  /** Messages that SQS will never accept. */
  readonly refused: { readonly event: EventName; readonly eventId: string; readonly why: string }[] = [];
  /** Archive objects that could not be read to their end. */
  readonly damaged: ArchiveDamage[] = [];
  /** Why it waits at the moment; undefined while it sends. */
  waitReason: string | undefined;
  readonly #stack: Stage;
  readonly #request: ReplayRequest;
  readonly #bucket: TokenBucket;
  /** Keys of the objects whose records are all sent or skipped. */
  readonly #done = new Set<string>();

  /** @param rate maximum messages a second */
  constructor(stack: Stage, request: ReplayRequest, rate: number) {
    this.#stack = stack;
    this.#request = request;
    this.#bucket = new TokenBucket(rate);
  }

  /** Number of messages sent. */
  get total(): number {
    return Object.values(this.sent).reduce((sum, messages) => sum + messages, 0);
  }

  /**
   * Sends the records of objects that it has not read yet. Ends early if the signal is aborted.
   * @throws CommandError if SQS does not accept a message, or a consumer fails
   */
  async send(signal: AbortSignal): Promise<void> {
    try {
      for (const event of this.#request.filter.events.toSorted()) await this.#sendEvent(event, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #sendEvent(event: EventName, signal: AbortSignal): Promise<void> {
    const backlog = new Backlog(this.#stack, event);
    const most = Math.min(GROUP_MESSAGES, this.#bucket.burst);
    let group: ReplayMessage[] = [];
    let bytes = 0;
    for await (const message of this.#messages(event, signal)) {
      group.push(message);
      bytes += message.bytes;
      if (group.length < most && bytes < GROUP_BYTES) continue;
      await this.#sendGroup(group, backlog, signal);
      group = [];
      bytes = 0;
    }
    if (group.length > 0 && !signal.aborted) await this.#sendGroup(group, backlog, signal);
  }

  /** The messages of an event's objects that were not read yet. Counts the records that are not sent. */
  async *#messages(event: EventName, signal: AbortSignal): AsyncGenerator<ReplayMessage> {
    // One object at a time: a replay may wait for hours, and somebody may change objects that were downloaded ahead.
    const options = { parallel: 1, signal };
    for await (const object of readObjects(this.#stack, () => this.#unread(event), options)) {
      for await (const { record, unsent } of replayRecords(this.#stack, object, this.#request)) {
        const isGone = unsent === undefined && (await isPayloadGone(this.#stack, record));
        const reason = isGone ? 'payloadGone' : unsent;
        if (reason === undefined) yield replayMessage(record, this.#request);
        else this.skipped[reason] = (this.skipped[reason] ?? 0) + 1;
      }
      // The signal may have stopped the reading of this object.
      if (signal.aborted) return;
      this.#done.add(object.key);
      if (object.damage !== undefined) this.damaged.push(object.damage);
    }
  }

  async *#unread(event: EventName): AsyncGenerator<StoredObject> {
    for await (const object of listArchive(this.#stack, { ...this.#request.filter, events: [event] })) {
      if (!this.#done.has(object.key)) yield object;
    }
  }

  async #sendGroup(group: readonly ReplayMessage[], backlog: Backlog, signal: AbortSignal): Promise<void> {
    await backlog.waitForCapacity(group.length, signal, (reason) => {
      this.waitReason = `paused: ${reason}`;
    });
    this.waitReason = undefined;
    await this.#bucket.take(group.length, signal);
    const { event } = backlog;
    const queueUrl = this.#stack.ofEvent(event, 'QueueUrl');
    const sending = await Promise.allSettled(
      batchesOf(group).map((batch) =>
        sendBatch(this.#stack.sqs, queueUrl, batch, signal, ({ eventId }, why) => {
          if (why === undefined) this.sent[event] = (this.sent[event] ?? 0) + 1;
          else this.refused.push({ event, eventId, why });
        }),
      ),
    );
    const failed = sending.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

/** Whether the payload of a record no longer exists. Its consumer would find that out only after hours of attempts. */
async function isPayloadGone(
  { s3, payloadBucket }: Stage,
  { body, payloadKey }: ArchiveRecord,
): Promise<boolean> {
  if (payloadKey === undefined) return body === undefined;
  try {
    await s3.send(new HeadObjectCommand({ Bucket: payloadBucket, Key: payloadKey }));
    return false;
  } catch (error) {
    if (error instanceof NotFound) return true;
    throw error;
  }
}

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
  readonly event: EventName;
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
    this.event = event;
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
    while (isFull()) {
      // The consumer may have processed the messages sent since the last poll.
      await sleep(Math.max(0, SHORTEST_INTERVAL - age()), undefined, { signal });
      await this.#poll();
      if (!isFull()) break;
      onWait(this.#reason());
      await sleep(POLL_INTERVAL, undefined, { signal });
    }
    this.#waiting += count;
  }

  /**
   * Why the replay waits.
   * @throws CommandError if too many messages have been in flight for too long
   */
  #reason(): string {
    if (this.#failingSince === undefined) {
      return `${this.#waiting.toLocaleString('en')} wait on the queue of ${this.event}`;
    }
    const fullFor = performance.now() - this.#failingSince;
    const inFlight = this.#inFlight.toLocaleString('en');
    if (fullFor < this.#maxWait) return `${inFlight} of ${this.event} are in flight because attempts fail`;
    throw new CommandError(
      `${inFlight} messages of ${this.event} have been in flight for ${duration(fullFor)}, so its consumer fails. Find the reason in its log and fix it`,
    );
  }

  async #poll(): Promise<void> {
    const { visible, inFlight } = await queueState(
      this.#stack.sqs,
      this.#stack.ofEvent(this.event, 'QueueUrl'),
    );
    this.#waiting = visible;
    this.#inFlight = inFlight;
    this.#polledAt = performance.now();
    if (inFlight > MAX_IN_FLIGHT) this.#failingSince ??= this.#polledAt;
    if (inFlight <= MAX_IN_FLIGHT * LOW) this.#failingSince = undefined;
  }
}
