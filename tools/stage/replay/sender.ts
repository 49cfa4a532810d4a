import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { CommandError } from '../../terminal/command-error.ts';
import type { ReplayMessage } from './message.ts';

/** Messages of a batch, and bytes of all of them. Source: SQS API reference, `SendMessageBatch`. */
export const BATCH_MESSAGES = 10;
export const BATCH_BYTES = 1024 * 1024;

/** Times that a batch is tried, the SDK's own repetitions aside: half a minute. */
const ATTEMPTS = 6;

/** Milliseconds before the second time; each wait is twice the one before. */
const FIRST_WAIT = 1_000;

/** What SQS says of a character that it takes in no message, and of a message that is too large. */
const UNFIT = 'InvalidMessageContents';
const TOO_LARGE = /must be shorter than/;

/** A message that SQS will never take. */
export interface Refusal {
  readonly eventId: string;
  readonly why: string;
}

/**
 * Sends a batch to a queue. What fails for a reason that may pass is sent again, later each time.
 * @returns what SQS refuses for good
 * @throws CommandError where it did not take the rest, AbortError where the signal ended the wait for another time
 */
export async function sendBatch(
  sqs: SQSClient,
  QueueUrl: string,
  messages: readonly ReplayMessage[],
  signal: AbortSignal,
): Promise<Refusal[]> {
  const eventIdOf = (id: string | undefined) => messages[Number(id)]?.eventId ?? '';
  const refused: Refusal[] = [];
  let left = messages.map(({ entry }, index) => ({ Id: String(index), ...entry }));
  for (let attempt = 1; ; attempt += 1) {
    const failed = await call(sqs, QueueUrl, left);
    for (const entry of failed.filter(isFinal)) {
      refused.push({ eventId: eventIdOf(entry.Id), why: `${entry.Code}: ${entry.Message ?? ''}` });
    }
    const again = failed.filter((entry) => !isFinal(entry));
    left = left.filter(({ Id }) => again.some((entry) => entry.Id === Id));
    const first = again.find(isOurFault) ?? again[0];
    if (first === undefined) return refused;
    if (attempt === ATTEMPTS || isOurFault(first)) {
      throw new CommandError(
        `SQS does not take event ${eventIdOf(first.Id)}${again.length > 1 ? ` and ${again.length - 1} more` : ''}: ${first.Code}: ${first.Message}`,
      );
    }
    await sleep(FIRST_WAIT * 2 ** (attempt - 1), undefined, { signal });
  }
}

/** Whether it is the message itself that SQS does not take, today or later. */
const isFinal = ({ Code, Message = '' }: BatchResultErrorEntry) => Code === UNFIT || TOO_LARGE.test(Message);

/** Whether it is a fault that another time does not mend: a right that is missing, a key that is disabled. */
const isOurFault = ({ SenderFault = false, Code = '' }: BatchResultErrorEntry) =>
  SenderFault && !/Thrott/.test(Code);

/** @throws the client's error, where the request itself is at fault */
async function call(
  sqs: SQSClient,
  QueueUrl: string,
  Entries: SendMessageBatchRequestEntry[],
): Promise<BatchResultErrorEntry[]> {
  try {
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    return Failed;
  } catch (error) {
    if (!(error instanceof Error) || isSendersFault(error)) throw error;
    return Entries.map(({ Id }) => ({ Id, SenderFault: false, Code: error.name, Message: error.message }));
  }
}

/** Throttles are said to be the sender's fault, too, and pass. */
function isSendersFault(error: Error & { $fault?: string; $retryable?: unknown }): boolean {
  return error.$fault === 'client' && error.$retryable === undefined && !/Thrott/.test(error.name);
}
