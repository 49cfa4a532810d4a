import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
} from '@aws-sdk/client-sqs';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { attribute, stringAttribute } from '../../../lambda/queue/message.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import type { Checkpoint } from './checkpoint.ts';

/** Maximum messages per batch, and maximum bytes of all of them. Source: SQS API reference, `SendMessageBatch`. */
const BATCH_MESSAGES = 10;
export const BATCH_BYTES = 1024 * 1024;

/** Attempts to send a batch, in addition to the SDK's retries: half a minute in total. */
const ATTEMPTS = 6;

/** Milliseconds before the second attempt. Each wait is twice the previous one. */
const FIRST_WAIT = 1_000;

/** SQS's error code for a character that it never accepts, and for a message that is too large. */
const UNFIT = 'InvalidMessageContents';
const TOO_LARGE = /must be shorter than/;

/** All replays share one message group, so that SQS fair queues keep them from delaying those of the shops. */
const REPLAY_GROUP = 'replay';

export interface ReplayMessage {
  /** Key of the archive object that contains the message's record. */
  readonly key: string;
  readonly line: number;
  readonly eventId: string;
  readonly entry: Omit<SendMessageBatchRequestEntry, 'Id'>;
  /** Bytes of body and attributes. Source: SQS developer guide, "Amazon SQS message metadata". */
  readonly bytes: number;
}

/**
 * The message of a record, marked as part of a replay.
 * @param record with its body or payloadKey
 */
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
 * Sends a batch to its queue, and marks the result of each message. Retries failures that may be temporary.
 * @throws CommandError if SQS does not accept the rest, AbortError if the signal ended the wait for another attempt
 */
export async function sendBatch(
  batch: readonly ReplayMessage[],
  event: EventName,
  { stack, checkpoint, signal }: { stack: Stage; checkpoint: Checkpoint; signal: AbortSignal },
): Promise<void> {
  const { queueUrl } = stack.event(event);
  let left = batch;
  for (let attempt = 1; ; attempt += 1) {
    const failed = markResults(left, await call(stack.sqs, queueUrl, left), event, checkpoint);
    const first = failed.find(({ failure }) => isOurFault(failure)) ?? failed[0];
    if (first === undefined) return;
    if (attempt === ATTEMPTS || isOurFault(first.failure)) {
      const others = failed.length > 1 ? ` and ${failed.length - 1} more` : '';
      const { Code, Message } = first.failure;
      throw new CommandError(
        `SQS does not accept event ${first.message.eventId}${others}: ${Code}: ${Message}`,
      );
    }
    left = failed.map(({ message }) => message);
    await sleep(FIRST_WAIT * 2 ** (attempt - 1), undefined, { signal });
  }
}

/** @returns the messages that may succeed if they are sent again, with their failures */
function markResults(
  batch: readonly ReplayMessage[],
  failures: readonly BatchResultErrorEntry[],
  event: EventName,
  checkpoint: Checkpoint,
) {
  return batch.flatMap((message, index) => {
    const failure = failures.find(({ Id }) => Id === String(index));
    if (failure !== undefined && !isFinal(failure)) return { message, failure };
    if (failure === undefined) checkpoint.markSent(message, event);
    else {
      const why = `${failure.Code}: ${failure.Message ?? ''}`;
      checkpoint.markRefused(message, { event, eventId: message.eventId, why });
    }
    return [];
  });
}

/** Whether SQS will never accept this message. */
const isFinal = ({ Code, Message = '' }: BatchResultErrorEntry) => Code === UNFIT || TOO_LARGE.test(Message);

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
function isSendersFault(error: Error & { $fault?: string; $retryable?: unknown }): boolean {
  return error.$fault === 'client' && error.$retryable === undefined && !/Thrott/.test(error.name);
}
