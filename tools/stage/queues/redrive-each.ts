import { CopyObjectCommand } from '@aws-sdk/client-s3';
import { type MessageAttributeValue, SendMessageCommand } from '@aws-sdk/client-sqs';
import { CommandError } from '../../terminal/command-error.ts';
import { printable } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { type HeldMessage, noted } from './message.ts';
import type { Outcome, RedriveOne } from './outcome.ts';
import { payloadBucket, UnreadablePayloadError } from './payload.ts';
import { queueState, sourceQueueUrl, type WaitingQueue } from './queue.ts';
import { redelivery } from './redelivery.ts';
import { emptiness } from './show.ts';
import { walk } from './walk.ts';

/** Characters that tell the messages of a queue apart. */
const SHORTEST_ID = 8;

/**
 * Redrives messages one by one: each is sent first, and deleted only once it is safely elsewhere. What
 * that leaves in two places, where the process dies in between, has its effect once all the same.
 * @param ids those messages only, by their ids or their events', or at least {@link SHORTEST_ID} characters of one
 * @returns whether all that could be asked for was done
 * @throws CommandError where there is nothing to redrive, or an id is too short to name one message
 */
export async function redriveEach(
  operation: Operation,
  queue: WaitingQueue,
  ids?: readonly string[],
): Promise<boolean> {
  const { stack, signal, say } = operation;
  const short = ids?.find((id) => id.length < SHORTEST_ID);
  if (short !== undefined) {
    throw new CommandError(
      `'${short}' may be several messages: give ${SHORTEST_ID} characters of an id at least`,
    );
  }
  const redriveOne = await redriverOf(stack, queue);
  const missing = new Set(ids);
  const outcomes: Outcome[] = [];
  const { seen, undeleted } = await walk(
    stack,
    queue.url,
    {
      signal,
      enough: () => outcomes.some(({ hopeless }) => hopeless) || (ids !== undefined && missing.size === 0),
    },
    async (message) => {
      if (ids !== undefined) {
        const own = [message.id, noted(message, 'eventId')];
        const named = [...missing].find((id) => own.some((one) => one?.startsWith(id)));
        if (named === undefined) return 'kept';
        missing.delete(named);
      }
      const outcome = await redriveOne(message).catch(failed);
      if (outcome === undefined) return 'kept';
      outcomes.push(outcome);
      return outcome.fate;
    },
  );

  for (const [what, count] of tally(outcomes)) say(`${String(count).padStart(5)} × ${printable(what)}`);
  for (const id of undeleted) {
    say(`${id} is on ${queue.title} too, as it could not be deleted: redriving it again does no harm.`);
  }
  if (signal.aborted) {
    say(`Interrupted. What was not redriven is on ${queue.title} as before; nothing is lost.`);
    return false;
  }
  const notThere = `Not on ${queue.title}: ${[...missing].join(', ')}. A redriven message gets a new id; one in flight can be seen again in a minute`;
  if (outcomes.length === 0) {
    throw new CommandError(
      seen > 0 && ids
        ? notThere
        : `Nothing to redrive: ${emptiness(queue, await queueState(stack.sqs, queue.url))}`,
    );
  }
  if (missing.size > 0) say(notThere);
  return missing.size === 0 && undeleted.length === 0 && outcomes.every(({ redriven }) => redriven);
}

function redriverOf(stack: Stage, queue: WaitingQueue): RedriveOne | Promise<RedriveOne> {
  switch (queue.kind) {
    case 'dead-letter':
      return (message) => sendTo(stack, queue.name, message);
    case 'unrouted':
      return (message) => route(stack, message);
    case 'quarantine':
      return redelivery(stack, queue);
  }
}

/** By the event that the receiver did not know when it came: to its queue, where it has one by now. */
async function route(stack: Stage, message: HeldMessage): Promise<Outcome> {
  const event = noted(message, 'event') ?? '';
  if (sourceQueueUrl(stack, event) === undefined) {
    return { fate: 'kept', redriven: false, what: `stays: event kind '${event}' has no consumer` };
  }
  const key = noted(message, 'payloadKey');
  if (key === undefined) return sendTo(stack, event, message);
  // A consumer may read the payloads of its own event only.
  const payloadKey = `${event}/${key.split('/').at(-1)}`;
  const Bucket = payloadBucket(stack);
  await stack.s3.send(
    new CopyObjectCommand({ Bucket, Key: payloadKey, CopySource: encodeURI(`${Bucket}/${key}`) }),
  );
  return sendTo(stack, event, {
    ...message,
    body: JSON.stringify({ payloadKey }),
    attributes: { ...message.attributes, payloadKey: { DataType: 'String', StringValue: payloadKey } },
  });
}

async function sendTo(stack: Stage, event: string, message: HeldMessage): Promise<Outcome> {
  await stack.sqs.send(
    new SendMessageCommand({
      QueueUrl: sourceQueueUrl(stack, event),
      MessageBody: message.body,
      MessageGroupId: message.groupId,
      MessageAttributes: carriedOver(message),
    }),
  );
  return { fate: 'settled', redriven: true, what: `moved to the queue of ${event}` };
}

/** The attributes, but for those that say how it failed. */
function carriedOver({ attributes }: HeldMessage): Record<string, MessageAttributeValue> {
  const { failureReason: _reason, failedAt: _at, ...others } = attributes;
  return Object.fromEntries(
    Object.entries(others).map(([name, { DataType, StringValue, BinaryValue }]) => [
      name,
      { DataType, ...(BinaryValue ? { BinaryValue } : { StringValue }) },
    ]),
  );
}

function failed(error: Error): Outcome {
  const why = error instanceof UnreadablePayloadError ? 'its payload cannot be read' : error.name;
  return { fate: 'kept', redriven: false, what: `stays: ${why}: ${error.message}` };
}

function tally(outcomes: readonly Outcome[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { what } of outcomes) counts.set(what, (counts.get(what) ?? 0) + 1);
  return counts;
}
