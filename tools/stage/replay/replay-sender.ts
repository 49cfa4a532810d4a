import { setTimeout as sleep } from 'node:timers/promises';
import { HeadObjectCommand, NotFound } from '@aws-sdk/client-s3';
import { type BatchResultErrorEntry, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { attribute, stringAttribute } from '../../../lambda/queue/message.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { readArchive } from '../archive/read-archive.ts';
import type { Operation } from '../operation.ts';
import { allDone } from '../queues/for-each-message.ts';
import type { Stage } from '../stage.ts';
import { TokenBucket } from '../token-bucket.ts';
import { backlogOf } from './backlog.ts';
import { type ReplayPlan, type ReplayRequest, replayRecords, type UnsentCounts } from './replay-plan.ts';

/** Maximum messages per batch, and maximum bytes of all of them. Source: SQS API reference, `SendMessageBatch`. */
const BATCH_MESSAGES = 10;
const BATCH_BYTES = 1024 * 1024;

/** Maximum batches that are sent at the same time. They are in memory. */
const MAX_BATCHES_AT_ONCE = 16;

/** Attempts to send a message that SQS rejects for now: half a minute in total. */
const ATTEMPTS = 6;

/** Milliseconds before the second attempt. Each wait is twice the previous one. */
const FIRST_WAIT = 1_000;

/** All replays share one message group, so that SQS fair queues keep them from delaying those of the shops. */
const REPLAY_GROUP = 'replay';

/** What a replay has sent and skipped until now. */
export class ReplayResult {
  /** Number of messages sent, by event. */
  readonly sent: Partial<Record<EventName, number>> = {};
  readonly skipped: UnsentCounts = {};
  /** Archive objects that could not be read to their end. */
  readonly damaged: string[] = [];

  /** Number of messages sent. */
  get total(): number {
    return Object.values(this.sent).reduce((sum, messages) => sum + messages, 0);
  }
}

/**
 * Sends the records of a replay's window. Ends early if the signal is aborted.
 * @param plan `messages` is for the progress
 * @param result gets what was sent, also if an error ends the replay
 * @throws CommandError if SQS does not accept a message, or a consumer fails
 */
export async function sendReplay(
  { stack, signal, progress }: Operation,
  { request, messages: total }: Pick<ReplayPlan, 'request' | 'messages'>,
  result: ReplayResult,
): Promise<void> {
  const bucket = new TokenBucket(request.rate);
  const most = Math.min(MAX_BATCHES_AT_ONCE, Math.ceil(bucket.burst / BATCH_MESSAGES));
  const show = (note = '') =>
    progress.show({ doing: 'Replaying', done: result.total, total, unit: 'messages', note });
  try {
    for (const event of request.filter.events.toSorted()) {
      const waitForCapacity = backlogOf(stack, event);
      const all = batchesOf(messagesOf(stack, event, request, signal, result));
      for await (const batches of groupsOf(all, most)) {
        const count = batches.reduce((sum, { length }) => sum + length, 0);
        await waitForCapacity(count, signal, (reason) => show(`paused: ${reason}`));
        await bucket.take(count, signal);
        await allDone(batches.map((batch) => sendBatch(stack, event, batch, signal, result)));
        show();
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    progress.end();
  }
}

/** The messages of an event. Counts the records that are not sent. */
async function* messagesOf(
  stack: Stage,
  event: EventName,
  request: ReplayRequest,
  signal: AbortSignal,
  { skipped, damaged }: ReplayResult,
): AsyncGenerator<ReplayMessage> {
  // One object at a time: a replay may wait for hours, and somebody may change objects that were downloaded ahead.
  const reading = readArchive(stack, { ...request.filter, events: [event], parallel: 1, signal });
  for await (const { record, unsent } of replayRecords(stack, reading, request)) {
    const isGone = unsent === undefined && (await isPayloadGone(stack, record));
    const reason = isGone ? 'payloadGone' : unsent;
    if (reason === undefined) yield replayMessage(record, request);
    else skipped[reason] = (skipped[reason] ?? 0) + 1;
  }
  damaged.push(...reading.damaged);
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

type ReplayMessage = ReturnType<typeof replayMessage>;

/**
 * The message of a record, marked as part of a replay.
 * @param record with its body or payloadKey
 */
export function replayMessage(record: ArchiveRecord, { name, mode, notify }: Replay) {
  const { payloadKey } = record;
  const texts = Object.entries({
    [attribute.event]: record.event,
    [attribute.eventId]: record.eventId,
    [attribute.receivedAt]: record.receivedAt,
    [attribute.requestId]: record.requestId,
    [attribute.payloadKey]: payloadKey,
    [attribute.replay]: JSON.stringify({ name, mode, notify }),
  }).flatMap(([key, text]) => (text === undefined ? [] : [[key, stringAttribute(text)] as const]));
  return {
    MessageBody: record.body ?? JSON.stringify({ payloadKey }),
    MessageGroupId: REPLAY_GROUP,
    MessageAttributes: Object.fromEntries(texts),
  };
}

async function* batchesOf(messages: AsyncIterable<ReplayMessage>): AsyncGenerator<ReplayMessage[]> {
  let batch: ReplayMessage[] = [];
  let size = 0;
  for await (const message of messages) {
    // As JSON, a message has some more bytes than SQS counts: those of body and attributes. Source: SQS developer guide,
    // "Amazon SQS message metadata".
    const bytes = Buffer.byteLength(JSON.stringify(message));
    if (batch.length === BATCH_MESSAGES || (batch.length > 0 && size + bytes > BATCH_BYTES)) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(message);
    size += bytes;
  }
  if (batch.length > 0) yield batch;
}

async function* groupsOf<Item>(items: AsyncIterable<Item>, most: number): AsyncGenerator<Item[]> {
  let group: Item[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < most) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/**
 * Sends a batch to the queue of its event. Retries what SQS rejects for now.
 * @throws CommandError if SQS does not accept a message, AbortError if the signal ended the wait for another attempt
 */
async function sendBatch(
  stack: Stage,
  event: EventName,
  batch: readonly ReplayMessage[],
  signal: AbortSignal,
  { sent }: ReplayResult,
): Promise<void> {
  const QueueUrl = stack.ofEvent(event, 'QueueUrl');
  let left = batch;
  for (let attempt = 1; left.length > 0; attempt += 1) {
    if (attempt > 1) await sleep(FIRST_WAIT * 2 ** (attempt - 2), undefined, { signal });
    const Entries = left.map((message, index) => ({ Id: String(index), ...message }));
    const { Failed = [] } = await stack.sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    sent[event] = (sent[event] ?? 0) + left.length - Failed.length;
    const hopeless = Failed.find((failure) => attempt === ATTEMPTS || isOurFault(failure));
    if (hopeless !== undefined) {
      const others = Failed.length > 1 ? ` and ${Failed.length - 1} more` : '';
      const { Id, Code, Message } = hopeless;
      const id = left[Number(Id)]?.MessageAttributes.eventId?.StringValue;
      throw new CommandError(`SQS does not accept event ${id}${others}: ${Code}: ${Message}`);
    }
    const failed = new Set(Failed.map(({ Id }) => Id));
    left = left.filter((_, index) => failed.has(String(index)));
  }
}

/** Whether retries cannot help, for example because a permission is missing or a key is disabled. */
const isOurFault = ({ SenderFault = false, Code = '' }: BatchResultErrorEntry) =>
  SenderFault && !/Thrott/.test(Code);
