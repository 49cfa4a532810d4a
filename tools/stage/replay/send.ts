import { setTimeout as sleep } from 'node:timers/promises';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { stringAttribute } from '../../../lambda/message-attribute.ts';
import { attribute } from '../../../lambda/queue/message.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { DamagedObjectError } from '../archive/lines.ts';
import type { Stage } from '../stage.ts';
import { Backlog } from './backlog.ts';
import type { Ledger } from './ledger.ts';
import type { Pace } from './pace.ts';
import { replayObjects, replayRecords } from './plan.ts';
import type { Unsent } from './state.ts';

/** Messages of a batch, and bytes of all of them. Source: SQS API reference, `SendMessageBatch`. */
const BATCH_MESSAGES = 10;
const BATCH_BYTES = 1024 * 1024;

/**
 * Messages of a group, at most: those that are sent between two saves, and again after a kill. In AWS a batch takes some
 * 40 ms and a save 30, so this allows 3,000 messages a second.
 */
const GROUP_MESSAGES = 250;

/** Bytes after which a group is full. Two groups are in memory: one is read while the other is sent. */
const GROUP_BYTES = 16 * BATCH_BYTES;

/** Records that are not sent and ends of objects after which a group is full. */
const GROUP_OTHERS = 1_000;

/** Milliseconds without a save after which this process may have slept, and another may have taken the replay over. */
const SLEPT = 7_500;

/** Times that a batch is tried, besides the retries of the SDK: half a minute. */
const ATTEMPTS = 6;

/** Milliseconds before the second attempt. Each wait is twice the one before. */
const FIRST_WAIT = 1_000;

/** What SQS answers about a character that it accepts in no message, and about a message that is too large. */
const UNFIT = 'InvalidMessageContents';
const TOO_LARGE = /must be shorter than/;

/** All replays are one message group, so that SQS fair queues keep them from delaying those of the shops. */
const REPLAY_GROUP = 'replay';

interface SendOptions {
  readonly stack: Stage;
  readonly ledger: Ledger;
  readonly pace: Pace;
  /** Ends it after the group that is being sent. */
  readonly signal: AbortSignal;
  /** Called with the reason for a wait, and with undefined after it. */
  readonly onHold: (reason: string | undefined) => void;
}

interface ReplayMessage {
  /** Where its record is. */
  readonly key: string;
  readonly line: number;
  readonly eventId: string;
  readonly entry: Omit<SendMessageBatchRequestEntry, 'Id'>;
  /** Bytes of body and attributes. Source: SQS developer guide, "Amazon SQS message metadata". */
  readonly bytes: number;
}

/** What is settled together: messages of one event, and the records and ends of objects between them. */
class Group {
  readonly event: EventName;
  readonly messages: ReplayMessage[] = [];
  readonly unsent: { readonly key: string; readonly line: number; readonly reason: Unsent }[] = [];
  readonly ended: { readonly key: string; readonly damage: string | undefined }[] = [];
  readonly #most: number;

  /** @param most messages */
  constructor(event: EventName, most: number) {
    this.event = event;
    this.#most = most;
  }

  get isFull(): boolean {
    const bytes = this.messages.reduce((sum, message) => sum + message.bytes, 0);
    const others = this.unsent.length + this.ended.length;
    return this.messages.length >= this.#most || bytes >= GROUP_BYTES || others >= GROUP_OTHERS;
  }

  batches(): ReplayMessage[][] {
    const all: ReplayMessage[][] = [];
    let bytes = 0;
    for (const message of this.messages) {
      bytes += message.bytes;
      const batch = all.at(-1);
      if (batch !== undefined && batch.length < BATCH_MESSAGES && bytes <= BATCH_BYTES) {
        batch.push(message);
      } else {
        all.push([message]);
        bytes = message.bytes;
      }
    }
    return all;
  }
}

/**
 * Sends what the archive has and the ledger does not, group by group. Nothing of a group is sent before all of the one
 * before it is saved.
 * @throws CommandError if SQS does not accept a message, or a consumer fails. What was sent is noted then.
 */
export async function sendRecords(options: SendOptions): Promise<void> {
  const { stack } = options;
  let backlog: Backlog | undefined;
  let settling = Promise.resolve();
  try {
    for await (const group of groups(options)) {
      const { event } = group;
      await settling;
      if (backlog?.event !== event) backlog = new Backlog(stack.sqs, stack.event(event).queueUrl, event);
      settling = settle(group, backlog, options);
      // The next await throws it.
      settling.catch(() => {});
    }
    await settling;
  } catch (error) {
    await settling.catch(() => {});
    if (!options.signal.aborted) throw error;
  }
}

/** What is left to settle, in the order of the archive. Ends early once the signal is aborted. */
async function* groups({ stack, ledger, pace, signal }: SendOptions): AsyncGenerator<Group> {
  const { state } = ledger;
  const most = Math.min(GROUP_MESSAGES, pace.burst);
  let group: Group | undefined;
  for await (const object of replayObjects(stack, state)) {
    const { key, event } = object;
    if (signal.aborted) return;
    if (ledger.isDone(key)) continue;
    if (group !== undefined && group.event !== event) {
      yield group;
      group = undefined;
    }
    group ??= new Group(event, most);
    let damage: string | undefined;
    try {
      for await (const { line, record, unsent } of replayRecords(stack, object, state, signal)) {
        const place = { key, line };
        if (ledger.isSettled(place)) continue;
        const reason = unsent ?? (await payloadGone(stack, record));
        if (reason === undefined) group.messages.push({ ...place, ...replayMessage(record, state) });
        else group.unsent.push({ ...place, reason });
        if (group.isFull) {
          yield group;
          group = new Group(event, most);
        }
      }
    } catch (error) {
      if (!(error instanceof DamagedObjectError)) throw error;
      damage = error.message;
    }
    // An object that Ctrl-C left unread is not done.
    if (signal.aborted) return;
    group.ended.push({ key, damage });
  }
  if (group !== undefined) yield group;
}

/** Sends the messages of a group, and saves what became of all of it. */
async function settle(group: Group, backlog: Backlog, options: SendOptions): Promise<void> {
  const { event, messages, unsent, ended } = group;
  const { ledger, pace, signal, onHold } = options;
  if (messages.length > 0) {
    await backlog.room(messages.length, signal, (reason) => onHold(`holds: ${reason}`));
    onHold(undefined);
    await pace.take(messages.length, signal);
    if (ledger.age > SLEPT) await ledger.save();
  }
  for (const { reason, ...place } of unsent) ledger.noteUnsent(place, reason);
  // Until SQS has answered: the state may be saved at any time.
  for (const message of messages) ledger.noteLeft(message);
  const sent = await Promise.allSettled(group.batches().map((batch) => sendBatch(batch, event, options)));
  for (const { key, damage } of ended) ledger.noteEnd(key, damage);
  const failed = sent.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  await ledger.save();
}

/** The message of a record, once more, as one of a replay. @param record with its body or payloadKey */
export function replayMessage(
  record: ArchiveRecord,
  { name, mode, notify }: Replay,
): Omit<ReplayMessage, 'key' | 'line'> {
  const { payloadKey } = record;
  const body = record.body ?? JSON.stringify({ payloadKey });
  const texts = Object.entries({
    [attribute.event]: record.event,
    [attribute.eventId]: record.eventId,
    [attribute.receivedAt]: record.receivedAt,
    [attribute.requestId]: record.requestId,
    [attribute.payloadKey]: payloadKey,
    [attribute.replay]: JSON.stringify({ name, mode, notify }),
  }).flatMap(([attributeName, text]) => (text === undefined ? [] : [[attributeName, text] as const]));
  return {
    eventId: record.eventId,
    entry: {
      MessageBody: body,
      MessageGroupId: REPLAY_GROUP,
      MessageAttributes: Object.fromEntries(texts.map(([key, text]) => [key, stringAttribute(text)])),
    },
    bytes: texts.reduce(
      (sum, [key, text]) => sum + key.length + 'String'.length + Buffer.byteLength(text),
      Buffer.byteLength(body),
    ),
  };
}

/** Its consumer could only find out the same, in three hours of attempts. */
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

/**
 * Sends a batch to its queue, and notes what became of each message. What fails for a reason that may pass is tried again.
 * @throws CommandError if SQS does not accept the rest, AbortError if the signal ended the wait for another attempt
 */
async function sendBatch(
  batch: readonly ReplayMessage[],
  event: EventName,
  { stack, ledger, signal }: SendOptions,
): Promise<void> {
  const { queueUrl } = stack.event(event);
  let left = batch;
  for (let attempt = 1; ; attempt += 1) {
    const failures = await call(stack.sqs, queueUrl, left);
    const again: { message: ReplayMessage; failure: BatchResultErrorEntry }[] = [];
    for (const [index, message] of left.entries()) {
      const failure = failures.find(({ Id }) => Id === String(index));
      if (failure === undefined) ledger.noteSent(message, event);
      else if (isFinal(failure)) {
        const why = `${failure.Code}: ${failure.Message ?? ''}`;
        ledger.noteRefused(message, { event, eventId: message.eventId, why });
      } else again.push({ message, failure });
    }
    const first = again.find(({ failure }) => isOurFault(failure)) ?? again[0];
    if (first === undefined) return;
    if (attempt === ATTEMPTS || isOurFault(first.failure)) {
      const others = again.length > 1 ? ` and ${again.length - 1} more` : '';
      const { Code, Message } = first.failure;
      throw new CommandError(
        `SQS does not accept event ${first.message.eventId}${others}: ${Code}: ${Message}`,
      );
    }
    left = again.map(({ message }) => message);
    await sleep(FIRST_WAIT * 2 ** (attempt - 1), undefined, { signal });
  }
}

/** Whether SQS will never accept the message itself. */
const isFinal = ({ Code, Message = '' }: BatchResultErrorEntry) => Code === UNFIT || TOO_LARGE.test(Message);

/** Whether another attempt cannot help: a permission is missing, a key is disabled. */
const isOurFault = ({ SenderFault = false, Code = '' }: BatchResultErrorEntry) =>
  SenderFault && !/Thrott/.test(Code);

/** @returns the failures, by the messages' places in the batch @throws the client's error if the request is at fault */
async function call(
  sqs: SQSClient,
  QueueUrl: string,
  messages: readonly ReplayMessage[],
): Promise<BatchResultErrorEntry[]> {
  const Entries = messages.map(({ entry }, index) => ({ Id: String(index), ...entry }));
  try {
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    return Failed;
  } catch (error) {
    if (!(error instanceof Error) || isSendersFault(error)) throw error;
    return Entries.map(({ Id }) => ({ Id, SenderFault: false, Code: error.name, Message: error.message }));
  }
}

/** SQS blames the sender for throttling, too, which passes. */
function isSendersFault(error: Error & { $fault?: string; $retryable?: unknown }): boolean {
  return error.$fault === 'client' && error.$retryable === undefined && !/Thrott/.test(error.name);
}
