import { type EventName, isEventName } from '../../../lambda/events/catalogue.ts';
import type { InspectedMessage } from '../../local/observation.ts';
import { refusalOf } from '../../stage/operation.ts';
import { copyKey, foldCopies } from '../../stage/queues/copies.ts';
import { sourceQueueUrl, type WaitingQueue, waitingQueues } from '../../stage/queues/queue.ts';
import {
  failureNote,
  noted,
  type ReceivedMessage,
  readPayload,
  reasonOf,
  UnreadablePayloadError,
  walk,
} from '../../stage/queues/received-message.ts';
import type { Stage } from '../../stage/stage.ts';
import type { DeadLetterGroup, DeadLetters, QueueMessage, QueueMessages } from '../api.ts';
import { ApiProblem, forbidden, notFound } from './api-problem.ts';
import type { ConsoleContext } from './console-context.ts';

/**
 * The messages of a queue, and copies as one. None is removed.
 * @param limit maximum number of messages in the answer
 * @param name an event, `dead:<event>`, `quarantine` or `unrouted`
 * @throws ApiProblem if there is no such queue, or reading would count as an attempt
 */
export async function queueMessages(look: Look, name: string, limit: number): Promise<QueueMessages> {
  const stack = look.source.stage;
  const queue = waitingQueues(stack).find(
    ({ kind, name: own }) => name === (kind === 'dead-letter' ? `dead:${own}` : own),
  );
  const url = queue?.url ?? sourceQueueUrl(stack, name);
  if (url === undefined) throw notFound(`There is no queue '${name}' in ${stack.title}`);
  if (queue === undefined && look.local === undefined) {
    throw new ApiProblem(
      'counts-as-attempt',
      409,
      'A look would count as an attempt',
      `SQS shows a message only to a client that receives it, and each receive of ${name} is one of its ten attempts. The deliveries show what is being retried`,
    );
  }
  const { messages, limited } = await seenMessages(look, url, async (message) => ({
    // The copies on an event's own queue are processed one by one.
    key: queue === undefined ? message.id : copyKey(queue, message),
    at: message.sentAt.toISOString(),
    shown: await shown(stack, queue, message),
  }));
  const entries = foldCopies(messages);
  return {
    messages: entries
      .slice(0, limit)
      .map(({ shown, copies, firstAt }) => ({ ...shown, copies, firstSentAt: firstAt })),
    limited: limited || entries.length > limit,
  };
}

export const SHOWN_CHARACTERS = 16 * 1024;

/** Maximum number of messages read from a queue. On a stage they are read 10 per call, and hidden from others meanwhile. */
const MAX_READ = 500;

type SeenMessage = Pick<
  ReceivedMessage,
  'id' | 'body' | 'attributes' | 'sentAt' | 'receives' | 'movedBySqs'
> &
  Pick<QueueMessage, 'state'>;

/** Access to queues. On the local stack, reading receives nothing. */
type Look = Pick<ConsoleContext, 'source' | 'local' | 'queueLocks' | 'readOnly'> & {
  readonly signal: AbortSignal;
};

/**
 * The dead letters of every event by reason, most frequent first. Reads one queue after the other.
 * @throws ApiProblem in read-only mode, if reading would receive messages
 */
export async function deadLetters(look: Look): Promise<DeadLetters> {
  requireLook(look);
  const { stage } = look.source;
  const problems = new PartialFailures(stage.local);
  const limitedQueues: string[] = [];
  const found: Letter[] = [];
  for (const queue of waitingQueues(stage)) {
    const { kind, name, title, url } = queue;
    if (kind !== 'dead-letter' || !isEventName(name)) continue;
    const letters = seenMessages(look, url, (one) => letterOf(one, queue, name));
    const seen = await problems.unless(title, letters);
    if (seen?.limited) limitedQueues.push(name);
    found.push(...(seen?.messages ?? []));
  }
  const groups = [...Map.groupBy(found, ({ reason }) => reason)].map(([reason, letters]) =>
    groupOf(reason, letters),
  );
  return {
    groups: groups.sort((a, b) => b.count - a.count || (a.lastAt < b.lastAt ? 1 : -1)),
    limited: limitedQueues,
    problems: problems.lines(),
  };
}

/** @throws ApiProblem in read-only mode, if reading would receive messages */
function requireLook({ local, readOnly }: Look): void {
  if (local !== undefined || !readOnly) return;
  const detail =
    'SQS shows a message only to a client that receives it, which counts and hides it for a while. The queues show how many there are. To see them, start the console without --read-only';
  throw forbidden('read-only', detail);
}

/**
 * The messages of a queue, and whether there are more.
 * @param show the part of each message that is kept: a message may have 1 MiB
 */
async function seenMessages<Shown>(
  look: Look,
  url: string,
  show: (message: SeenMessage) => Shown | Promise<Shown>,
): Promise<{ readonly messages: readonly Shown[]; readonly limited: boolean }> {
  requireLook(look);
  const { source, local, queueLocks, signal } = look;
  const messages: Shown[] = [];
  if (local !== undefined) {
    const all = await local.stack.inspectQueue(url);
    for (const message of all.slice(0, MAX_READ)) messages.push(await show(inspected(message)));
    return { messages, limited: all.length > MAX_READ };
  }
  return await queueLocks.look(url, async () => {
    const { limited } = await walk(source.stage, url, { signal, limit: MAX_READ }, async (message) => {
      messages.push(await show({ ...message, state: 'waiting' }));
      return 'kept';
    });
    return { messages, limited };
  });
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
): Promise<Omit<QueueMessage, 'copies' | 'firstSentAt'>> {
  const { id, sentAt, receives, state } = message;
  const body = await textOf(stack, queue, message);
  const facts = {
    eventId: noted(message, 'eventId'),
    event: noted(message, 'event'),
    requestId: noted(message, 'requestId'),
    reason: queue && reasonOf(message, queue),
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

/** The body. For a quarantined message, the partner's bytes, unless they are in S3. */
async function textOf(stack: Stage, queue: WaitingQueue | undefined, message: SeenMessage): Promise<string> {
  if (queue?.kind !== 'quarantine' || noted(message, 'payloadKey') !== undefined) return message.body;
  try {
    return (await readPayload(stack, queue, message)).toString();
  } catch (error) {
    if (error instanceof UnreadablePayloadError) return message.body;
    throw error;
  }
}

type Letter = ReturnType<typeof letterOf>;

function letterOf(message: SeenMessage, queue: WaitingQueue, name: EventName) {
  const eventId = noted(message, 'eventId');
  return {
    key: copyKey(queue, message),
    at: failedAt(message),
    reason: reasonOf(message, queue),
    shown: { queue: name, id: message.id, ...(eventId !== undefined && { eventId }) },
  };
}

/** Time of the final failure. If SQS moved the message or the time is unusable, the time it was sent. */
function failedAt(message: SeenMessage): string {
  const time = Date.parse(failureNote(message, 'failedAt') ?? '');
  return (Number.isNaN(time) ? message.sentAt : new Date(time)).toISOString();
}

function groupOf(reason: string, letters: readonly Letter[]): DeadLetterGroup {
  const times = letters.map(({ at }) => at).sort();
  return {
    reason,
    count: letters.length,
    firstAt: times[0] ?? '',
    lastAt: times.at(-1) ?? '',
    messages: foldCopies(letters).map(({ shown, copies }) => ({ ...shown, copies })),
  };
}

/** Collects parts that could not be read: one line for each reason, with all its subjects. */
export class PartialFailures {
  readonly #local: boolean;
  readonly #subjects = new Map<string, string[]>();

  /** @param local whether the stack runs on this computer */
  constructor(local: boolean) {
    this.#local = local;
  }

  /**
   * @param subject what is read: `the queue of shop.updated`
   * @returns undefined if it cannot be read now
   * @throws the error if it is a bug of the console itself
   */
  async unless<Known>(subject: string, read: Promise<Known>): Promise<Known | undefined> {
    try {
      return await read;
    } catch (error) {
      const reason = error instanceof ApiProblem ? error.message : refusalOf(error, this.#local);
      this.#subjects.set(reason, [...(this.#subjects.get(reason) ?? []), subject]);
      return undefined;
    }
  }

  lines(): string[] {
    return [...this.#subjects].map(([reason, subjects]) => `${subjects.join(', ')}: ${reason}`);
  }
}
