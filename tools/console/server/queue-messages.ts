import type { InspectedMessage } from '../../../local/observation.ts';
import { failureNote, type HeldMessage, noted, reasonOf, walk } from '../../stage/queues/messages.ts';
import { readPayload, UnreadablePayloadError } from '../../stage/queues/payload.ts';
import { sourceQueueUrl, type WaitingQueue, waitingQueues } from '../../stage/queues/queue.ts';
import type { Stage } from '../../stage/stage.ts';
import type { QueueMessage, QueueMessages } from '../api.ts';
import { notFound, Problem } from './problem.ts';
import type { QueueUse } from './queue-use.ts';

/** Characters of a body that are shown of a message in a list of many. */
export const SHOWN_CHARACTERS = 16 * 1024;

/** Looks at the messages of a queue without receiving any. */
export type Inspect = (url: string) => readonly InspectedMessage[] | Promise<readonly InspectedMessage[]>;

/** A message, however it was looked at. */
export type SeenMessage = Pick<
  HeldMessage,
  'id' | 'body' | 'attributes' | 'sentAt' | 'receives' | 'movedBySqs'
> &
  Pick<QueueMessage, 'state'>;

/** How queues are looked into. */
export interface Look {
  readonly stack: Stage;
  /** Absent where looking is receiving. */
  readonly inspect?: Inspect | undefined;
  readonly use: QueueUse;
  readonly signal: AbortSignal;
  /** Nothing may be changed, and so nothing of a stage received. */
  readonly readOnly: boolean;
}

/**
 * The messages of a queue, taking none away.
 * @param name an event, `dead:<event>`, `quarantine` or `unrouted`
 * @throws Problem where there is no such queue, or a look would count as an attempt
 */
export async function queueMessages(look: Look, name: string, limit: number): Promise<QueueMessages> {
  const { stack, inspect } = look;
  const queue = queueOf(stack, name);
  const url = queue?.url ?? sourceQueueUrl(stack, name);
  if (url === undefined) throw notFound(`There is no queue '${name}' in ${stack.title}`);
  if (queue === undefined && inspect === undefined) {
    throw new Problem(
      'counts-as-attempt',
      409,
      'A look would count as an attempt',
      `SQS shows a message only to who receives it, and each receive of ${name} is one of its ten attempts. What is being retried the deliveries show`,
    );
  }
  return await seenMessages(look, url, limit, (message) => shown(stack, queue, message));
}

/** @throws Problem where a look would receive what it sees, and nothing may be changed */
export function requireLook({ inspect, readOnly }: Pick<Look, 'inspect' | 'readOnly'>): void {
  if (inspect !== undefined || !readOnly) return;
  throw new Problem(
    'read-only',
    403,
    'Forbidden',
    'SQS shows a message only to who receives it, which counts and hides it for a while: how many there are the queues say. To look, start the console without --read-only',
  );
}

/**
 * The messages of a queue that are seen, and whether there are more.
 * @param show what is kept of each: whole they may be 1 MiB each
 * @throws Problem where a look would change something, and nothing may be changed
 */
export async function seenMessages<Shown>(
  look: Look,
  url: string,
  limit: number,
  show: (message: SeenMessage) => Shown | Promise<Shown>,
): Promise<{ readonly messages: readonly Shown[]; readonly limited: boolean }> {
  requireLook(look);
  const { stack, inspect, use, signal } = look;
  const messages: Shown[] = [];
  if (inspect !== undefined) {
    const all = await inspect(url);
    for (const message of all.slice(0, limit)) messages.push(await show(inspected(message)));
    return { messages, limited: all.length > limit };
  }
  return await use.look(url, async () => {
    const { limited } = await walk(stack, url, { signal, limit }, async (message) => {
      messages.push(await show({ ...message, state: 'waiting' }));
      return 'kept';
    });
    return { messages, limited };
  });
}

/** @returns undefined where it is none on which messages wait for somebody to look */
function queueOf(stack: Stage, name: string): WaitingQueue | undefined {
  return waitingQueues(stack).find(
    (queue) => name === (queue.kind === 'dead-letter' ? `dead:${queue.name}` : queue.name),
  );
}

function inspected({ attributes, ...message }: InspectedMessage): SeenMessage {
  const typed = Object.entries(attributes).map(
    ([name, StringValue]) => [name, { DataType: 'String', StringValue }] as const,
  );
  return { ...message, attributes: Object.fromEntries(typed), movedBySqs: false };
}

async function shown(
  stack: Stage,
  queue: WaitingQueue | undefined,
  message: SeenMessage,
): Promise<QueueMessage> {
  const { id, sentAt, receives, state } = message;
  const body = await textOf(stack, queue, message);
  const facts = {
    eventId: noted(message, 'eventId'),
    event: noted(message, 'event'),
    requestId: noted(message, 'requestId'),
    reason: queue && reasonOf(message, queue),
    failedAt: failureNote(message, 'failedAt'),
  };
  return {
    id,
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)),
    sentAt: sentAt.toISOString(),
    receives,
    state,
    body: body.slice(0, SHOWN_CHARACTERS),
    truncated: body.length > SHOWN_CHARACTERS,
  };
}

/** The body; of what the quarantine wraps what the partner sent, unless that is in S3. */
async function textOf(stack: Stage, queue: WaitingQueue | undefined, message: SeenMessage): Promise<string> {
  if (queue?.kind !== 'quarantine' || noted(message, 'payloadKey') !== undefined) return message.body;
  try {
    return (await readPayload(stack, queue, message)).toString();
  } catch (error) {
    if (error instanceof UnreadablePayloadError) return message.body;
    throw error;
  }
}
