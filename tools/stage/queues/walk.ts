import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { LONGEST_LOOK_SECONDS } from '../../../lib/longest-look.ts';
import type { Stage } from '../stage.ts';
import { type HeldMessage, heldMessage } from './message.ts';
import { queueState } from './queue.ts';

/** SQS's largest batch. */
const PAGE = 10;

/** Pages without a new message after which all have been seen: held ones come back when a walk takes long. */
const PAGES_WITHOUT_NEWS = 3;

/** Messages of one walk at most. SQS itself ends at 120,000 in flight. */
const MAXIMUM_WALK = 100_000;

/** `settled` only where the message is safely elsewhere: it is deleted then. `kept` ones are given back. */
export type Fate = 'settled' | 'kept';

interface WalkOptions {
  readonly signal: AbortSignal;
  /** Messages at most. @default MAXIMUM_WALK */
  readonly limit?: number;
  /** Asked after every page whether the rest may be skipped. @default never */
  readonly enough?: () => boolean;
}

interface WalkResult {
  readonly seen: number;
  /** Settled messages that could not be deleted: they are in two places. */
  readonly undeleted: readonly string[];
  /** The walk ended at its limit: there may be more. */
  readonly limited: boolean;
}

/**
 * Visits the messages of a queue, each once, and leaves those that are kept as they were: hidden from
 * others during the walk only, and where this process dies for at most as long as {@link holdSeconds}
 * says. The messages of a page are visited together.
 * @throws what a visit throws, once the messages have been given back
 */
export async function walk(
  { sqs, waitSeconds }: Pick<Stage, 'sqs' | 'waitSeconds'>,
  url: string,
  { signal, limit = MAXIMUM_WALK, enough = () => false }: WalkOptions,
  visit: (message: HeldMessage) => Promise<Fate>,
): Promise<WalkResult> {
  const hold = holdSeconds(Math.min(limit, (await queueState(sqs, url)).visible));
  const visited = new Set<string>();
  /** The receipts to give back, by message: a later receive replaces an earlier one. */
  const held = new Map<string, string>();
  const undeleted: string[] = [];

  async function visitOne(message: HeldMessage): Promise<void> {
    if ((await visit(message)) === 'kept') return;
    held.delete(message.id);
    try {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message.receiptHandle }));
    } catch {
      undeleted.push(message.id);
    }
  }

  let withoutNews = 0;
  try {
    while (!signal.aborted && !enough() && visited.size < limit && withoutNews < PAGES_WITHOUT_NEWS) {
      const page = await receive(sqs, url, Math.min(PAGE, limit - visited.size), hold, waitSeconds);
      if (page.length === 0) break;
      for (const { id, receiptHandle } of page) held.set(id, receiptHandle);
      const fresh = page.filter(({ id }) => !visited.has(id));
      withoutNews = fresh.length === 0 ? withoutNews + 1 : 0;
      for (const { id } of fresh) visited.add(id);
      const visits = await Promise.allSettled(fresh.map(visitOne));
      const failure = visits.find((result) => result.status === 'rejected');
      if (failure) throw failure.reason;
    }
  } finally {
    await giveBack(sqs, url, [...held.values()]);
  }
  return { seen: visited.size, undeleted, limited: visited.size >= limit };
}

/** Whether a queue has a message that can be received now: SQS's counts are up to a minute late. */
export async function hasMessage(stack: Pick<Stage, 'sqs' | 'waitSeconds'>, url: string): Promise<boolean> {
  const signal = new AbortController().signal;
  const { seen } = await walk(stack, url, { signal, limit: 1 }, async () => 'kept');
  return seen > 0;
}

/** A minute, and for many messages as long as they take at 50 in a second. At most a quarter of an hour. */
function holdSeconds(count: number): number {
  return Math.min(LONGEST_LOOK_SECONDS, 60 + Math.ceil(count / 50));
}

async function receive(
  sqs: SQSClient,
  url: string,
  most: number,
  hold: number,
  waitSeconds: number,
): Promise<HeldMessage[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: most,
      VisibilityTimeout: hold,
      WaitTimeSeconds: waitSeconds,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    }),
  );
  return Messages.map(heldMessage);
}

/** Makes messages visible again. One that cannot be becomes so by itself at the end of its hold. */
async function giveBack(sqs: SQSClient, url: string, receipts: readonly string[]): Promise<void> {
  const batches = Array.from({ length: Math.ceil(receipts.length / PAGE) }, (_, index) =>
    receipts.slice(index * PAGE, (index + 1) * PAGE),
  );
  const worker = async () => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      const Entries = batch.map((ReceiptHandle, index) => ({
        Id: String(index),
        ReceiptHandle,
        VisibilityTimeout: 0,
      }));
      await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries })).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}
