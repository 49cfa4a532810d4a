import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
} from '@aws-sdk/client-sqs';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { attribute, stringAttribute } from '../../../lambda/queue/message.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';

/** Maximum messages per batch, and maximum bytes of all of them. Source: SQS API reference, `SendMessageBatch`. */
const BATCH_MESSAGES = 10;
export const BATCH_BYTES = 1024 * 1024;

/** Attempts to send a batch, in addition to the SDK's retries: half a minute in total. */
const ATTEMPTS = 6;

/** Milliseconds before the second attempt. Each wait is twice the previous one. */
const FIRST_WAIT = 1_000;

/** SQS's text about a message that is too large: the attribute of the replay made it larger. */
const TOO_LARGE = /must be shorter than/;

/** All replays share one message group, so that SQS fair queues keep them from delaying those of the shops. */
const REPLAY_GROUP = 'replay';

export interface ReplayMessage {
  readonly eventId: string;
  readonly entry: Omit<SendMessageBatchRequestEntry, 'Id'>;
  /** Bytes of body and attributes. Source: SQS developer guide, "Amazon SQS message metadata". */
  readonly bytes: number;
}

/**
 * The message of a record, marked as part of a replay.
 * @param record with its body or payloadKey
 */
export function replayMessage(record: ArchiveRecord, { name, mode, notify }: Replay): ReplayMessage {
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

export function batchesOf(messages: readonly ReplayMessage[]): ReplayMessage[][] {
  const all: ReplayMessage[][] = [];
  let bytes = 0;
  for (const message of messages) {
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

/**
 * Sends a batch to its queue. Retries failures that may be temporary.
 * @param onSettled called with each message that was sent; `why`: why SQS will never accept it, undefined if it was sent
 * @throws CommandError if SQS does not accept the rest, AbortError if the signal ended the wait for another attempt
 */
export async function sendBatch(
  sqs: Stage['sqs'],
  queueUrl: string,
  batch: readonly ReplayMessage[],
  signal: AbortSignal,
  onSettled: (message: ReplayMessage, why: string | undefined) => void,
): Promise<void> {
  let left = batch;
  for (let attempt = 1; ; attempt += 1) {
    const failures = new Map((await call(sqs, queueUrl, left)).map((failure) => [failure.Id, failure]));
    const failed: { message: ReplayMessage; failure: BatchResultErrorEntry }[] = [];
    for (const [index, message] of left.entries()) {
      const failure = failures.get(String(index));
      if (failure === undefined) onSettled(message, undefined);
      else if (isFinal(failure)) onSettled(message, describe(failure));
      else failed.push({ message, failure });
    }
    if (failed.length === 0) return;
    const final = failed.find(({ failure }) => attempt === ATTEMPTS || isOurFault(failure));
    if (final !== undefined) {
      const others = failed.length > 1 ? ` and ${failed.length - 1} more` : '';
      const { eventId } = final.message;
      throw new CommandError(`SQS does not accept event ${eventId}${others}: ${describe(final.failure)}`);
    }
    left = failed.map((one) => one.message);
    await sleep(FIRST_WAIT * 2 ** (attempt - 1), undefined, { signal });
  }
}

const describe = ({ Code, Message = '' }: BatchResultErrorEntry) => `${Code}: ${Message}`;

/** Whether SQS will never accept this message. */
const isFinal = ({ Message = '' }: BatchResultErrorEntry) => TOO_LARGE.test(Message);

/** Whether retries cannot help, for example because a permission is missing or a key is disabled. */
const isOurFault = ({ SenderFault = false, Code = '' }: BatchResultErrorEntry) =>
  SenderFault && !/Thrott/.test(Code);

/**
 * @returns the failures, by the messages' positions in the batch
 * @throws the client's error if the whole request is at fault
 */
async function call(
  sqs: Stage['sqs'],
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

/** SQS reports throttling as the sender's fault, too, but throttling passes. */
const isSendersFault = (error: Error & { $fault?: string; $retryable?: unknown }) =>
  error.$fault === 'client' && error.$retryable === undefined && !/Thrott/.test(error.name);
