import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { MAX_INSPECTION_SECONDS } from '../../../lambda/limits.ts';
import type { Stage } from '../stage.ts';
import { queueState, type WaitingQueue } from './queue.ts';
import { type ReceivedMessage, receivedMessage } from './received-message.ts';

/** Maximum messages per call. Source: SQS API reference, `ReceiveMessage`. */
const PAGE = 10;

/** Pages that are received and visited at the same time, unless the caller gives fewer. */
export const MAX_PAGES_AT_ONCE = 8;

/** Messages of a queue that a search inspects: 100 calls of 10 messages, some seconds in AWS. */
export const MAX_SEARCHED = 1_000;

/**
 * Pages in a row without a new message, after which all messages have been seen. If visiting takes long, messages that
 * were seen become visible and are received again.
 */
const PAGES_WITHOUT_NEW = 3;

/** Maximum number of messages that one call visits. SQS allows 120,000 in flight. */
const MAX_VISITED = 100_000;

interface VisitOptions {
  /** An abort ends the visits after the current pages. */
  readonly signal: AbortSignal;
  /** Maximum number of messages. With several pages at once, a few more may be visited. */
  readonly limit?: number | undefined;
  /** Pages that are visited at the same time. @default 1 */
  readonly atOnce?: number;
}

/**
 * Receives each message of a queue once, page by page. Nobody else can receive the messages meanwhile. If this process
 * dies, they stay hidden for {@link hiddenSeconds}.
 * @param visit is called for all messages of a page at the same time. It returns `settled` only if the message is safely
 * stored elsewhere, or nobody wants it: the message is then deleted. After `stays`, the message becomes visible again
 * @returns `seen`: number of messages; `undeleted`: ids of settled messages that could not be deleted, so they are still
 * on this queue, too; `limited`: the limit was reached, so there may be more
 * @throws errors of `visit`, after the messages were made visible again
 * @example
 * const { seen } = await forEachMessage(stage, queue, { signal, limit: 100 }, async ({ id }) => {
 *   print(id);
 *   return 'stays';
 * });
 */
export async function forEachMessage(
  { sqs, waitSeconds }: Pick<Stage, 'sqs' | 'waitSeconds'>,
  queue: WaitingQueue,
  { signal, limit = MAX_VISITED, atOnce = 1 }: VisitOptions,
  visit: (message: ReceivedMessage) => Promise<'settled' | 'stays'>,
): Promise<{ readonly seen: number; readonly undeleted: readonly string[]; readonly limited: boolean }> {
  const { url: QueueUrl } = queue;
  const VisibilityTimeout = hiddenSeconds(Math.min(limit, (await queueState(sqs, QueueUrl)).visible));
  /** Receipt handles by message. A later receive replaces an earlier one. Undefined: the message is settled. */
  const visited = new Map<string, string | undefined>();
  const undeleted: string[] = [];
  let withoutNew = 0;
  let hasFailed = false;

  async function receive(): Promise<ReceivedMessage[]> {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: Math.min(PAGE, limit - visited.size),
        VisibilityTimeout,
        WaitTimeSeconds: waitSeconds,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
      }),
    );
    return Messages.map((message) => receivedMessage(queue, message));
  }

  async function visitOne(message: ReceivedMessage): Promise<void> {
    if ((await visit(message)) === 'stays') return;
    visited.set(message.id, undefined);
    try {
      const { ReceiptHandle } = message.received;
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    } catch {
      undeleted.push(message.id);
    }
  }

  async function visitPages(): Promise<void> {
    while (!signal.aborted && !hasFailed && visited.size < limit && withoutNew < PAGES_WITHOUT_NEW) {
      const page = await receive();
      if (page.length === 0) return;
      const fresh = page.filter(({ id }) => !visited.has(id));
      withoutNew = fresh.length === 0 ? withoutNew + 1 : 0;
      for (const { id, received } of page) visited.set(id, received.ReceiptHandle);
      await allDone(fresh.map(visitOne));
    }
  }

  /** Makes messages visible again. If that fails, SQS does so when their visibility timeout ends. */
  async function giveBack(): Promise<void> {
    const receipts = [...visited.values()].filter((handle) => handle !== undefined);
    const worker = async () => {
      for (let batch = receipts.splice(0, PAGE); batch.length > 0; batch = receipts.splice(0, PAGE)) {
        const Entries = batch.map((ReceiptHandle, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout: 0,
        }));
        await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries })).catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: MAX_PAGES_AT_ONCE }, worker));
  }

  try {
    const worker = () =>
      visitPages().catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    await allDone(Array.from({ length: atOnce }, worker));
  } finally {
    await giveBack();
  }
  return { seen: visited.size, undeleted, limited: visited.size >= limit };
}

/** Waits until all have ended, also if one fails. @throws the first error */
export async function allDone(running: readonly Promise<void>[]): Promise<void> {
  const ended = await Promise.allSettled(running);
  const failure = ended.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
}

/**
 * Seconds for which visited messages are hidden: a minute, and the time to visit them at 50 a second. At most 15
 * minutes.
 */
function hiddenSeconds(count: number): number {
  return Math.min(MAX_INSPECTION_SECONDS, 60 + Math.ceil(count / 50));
}
