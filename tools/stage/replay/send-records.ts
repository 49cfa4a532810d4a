import { HeadObjectCommand } from '@aws-sdk/client-s3';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import type { Stage } from '../stage.ts';
import { Backlog } from './backlog.ts';
import type { Checkpoint } from './checkpoint.ts';
import { replayObjects, replayRecords } from './replay-plan.ts';
import type { Unsent } from './replay-state.ts';
import { BATCH_BYTES, batchesOf, type ReplayMessage, replayMessage, sendBatch } from './send-batch.ts';
import type { TokenBucket } from './token-bucket.ts';

/**
 * Maximum messages per group: those sent between two saves, and sent again after a kill. In AWS a batch takes about 40
 * ms and a save 30, so this allows 3,000 messages a second.
 */
const GROUP_MESSAGES = 250;

/** Maximum bytes of a group. Two groups are in memory: one is read while the other is sent. */
const GROUP_BYTES = 16 * BATCH_BYTES;

/** Maximum entries of a group that send nothing: skipped records, and archive objects that were read to their end. */
const GROUP_OTHERS = 1_000;

interface SendRecordsOptions {
  readonly stack: Stage;
  readonly checkpoint: Checkpoint;
  readonly bucket: TokenBucket;
  /** Aborts the replay after the group that is being sent. */
  readonly signal: AbortSignal;
  /** Called with the reason for a wait, and with undefined after it. */
  readonly onWait: (reason: string | undefined) => void;
}

/** A unit of progress: messages of one event, and the skipped records and ends of objects between them. */
const newGroup = (event: EventName) => ({
  event,
  messages: [] as ReplayMessage[],
  unsent: [] as UnsentRecord[],
  ended: [] as ReadObject[],
});

type MessageGroup = ReturnType<typeof newGroup>;

interface UnsentRecord {
  readonly key: string;
  readonly line: number;
  readonly reason: Unsent;
}

/** An object that was read to its end. */
interface ReadObject {
  readonly key: string;
  readonly damage: string | undefined;
}

/**
 * Whether a group must be sent before more is added.
 * @param most maximum messages
 */
function isFull({ messages, unsent, ended }: MessageGroup, most: number): boolean {
  const bytes = messages.reduce((sum, message) => sum + message.bytes, 0);
  return messages.length >= most || bytes >= GROUP_BYTES || unsent.length + ended.length >= GROUP_OTHERS;
}

/**
 * Sends the archived records that the checkpoint does not contain, group by group. A group is sent only after the
 * previous group is saved.
 * @throws CommandError if SQS does not accept a message, or a consumer fails. The checkpoint contains everything sent
 * until then
 */
export async function sendRecords(options: SendRecordsOptions): Promise<void> {
  const { stack } = options;
  let backlog: Backlog | undefined;
  let settling = Promise.resolve();
  try {
    for await (const group of groups(options)) {
      const { event } = group;
      await settling;
      if (backlog?.event !== event) backlog = new Backlog(stack, event);
      settling = settle(group, backlog, options);
      // No unhandled rejection: the next `await settling` throws the error.
      settling.catch(() => {});
    }
    await settling;
  } catch (error) {
    await settling.catch(() => {});
    if (!options.signal.aborted) throw error;
  }
}

/** The remaining groups, in the order of the archive. Ends early if the signal is aborted. */
async function* groups(options: SendRecordsOptions): AsyncGenerator<MessageGroup> {
  const { checkpoint, bucket, signal } = options;
  const most = Math.min(GROUP_MESSAGES, bucket.burst);
  for (const event of checkpoint.state.filter.events.toSorted()) {
    let group = newGroup(event);
    for await (const part of partsOf(event, options)) {
      if ('entry' in part) group.messages.push(part);
      else if ('reason' in part) group.unsent.push(part);
      else group.ended.push(part);
      if (!isFull(group, most)) continue;
      yield group;
      group = newGroup(event);
    }
    if (signal.aborted) return;
    if (group.messages.length + group.unsent.length + group.ended.length > 0) yield group;
  }
}

/** What is left to do for an event: records that the checkpoint does not contain, and ends of objects. */
async function* partsOf(
  event: EventName,
  { stack, checkpoint, signal }: SendRecordsOptions,
): AsyncGenerator<ReplayMessage | UnsentRecord | ReadObject> {
  const { state } = checkpoint;
  const skip = (key: string) => checkpoint.isDone(key);
  for await (const object of replayObjects(stack, state, { event, skip, signal })) {
    const { key } = object;
    for await (const { line, record, unsent } of replayRecords(object, state)) {
      if (checkpoint.isSettled({ key, line })) continue;
      const reason = unsent ?? (await payloadGone(stack, record));
      if (reason === undefined) yield { key, line, ...replayMessage(record, state) };
      else yield { key, line, reason };
    }
    // Ctrl-C may have stopped the reading of this object, so it does not count as finished.
    if (signal.aborted) return;
    yield { key, damage: object.damage?.message };
  }
}

/** Sends the messages of a group, and saves the result. */
async function settle(group: MessageGroup, backlog: Backlog, options: SendRecordsOptions): Promise<void> {
  const { event, messages, unsent, ended } = group;
  const { checkpoint, bucket, signal, onWait } = options;
  if (messages.length > 0) {
    await backlog.waitForCapacity(messages.length, signal, (reason) => onWait(`paused: ${reason}`));
    onWait(undefined);
    await bucket.take(messages.length, signal);
  }
  for (const { reason, ...position } of unsent) checkpoint.markUnsent(position, reason);
  // The messages count as unsent until SQS has answered, because the state may be saved at any time.
  for (const message of messages) checkpoint.markPending(message);
  const sent = await Promise.allSettled(batchesOf(messages).map((batch) => sendBatch(batch, event, options)));
  for (const { key, damage } of ended) checkpoint.markObjectRead(key, damage);
  const failed = sent.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  await checkpoint.save();
}

/**
 * Checks that the payload of a record still exists. Otherwise the consumer would find that out only after three hours
 * of attempts.
 */
async function payloadGone(
  { s3, payloadBucket }: Stage,
  { body, payloadKey }: ArchiveRecord,
): Promise<'payloadGone' | undefined> {
  if (payloadKey === undefined) return body === undefined ? 'payloadGone' : undefined;
  try {
    await s3.send(new HeadObjectCommand({ Bucket: payloadBucket, Key: payloadKey }));
    return undefined;
  } catch (error) {
    if (error instanceof Error && error.name === 'NotFound') return 'payloadGone';
    throw error;
  }
}
