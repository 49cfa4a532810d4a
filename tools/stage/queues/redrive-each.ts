import { CopyObjectCommand } from '@aws-sdk/client-s3';
import { type MessageAttributeValue, SendMessageCommand } from '@aws-sdk/client-sqs';
import { sha256Hex } from '../../../lambda/hash.ts';
import { CommandError, UsageError } from '../../terminal/command-error.ts';
import { SHORT_ID_LENGTH } from '../../terminal/terminal.ts';
import { messages } from '../../terminal/text.ts';
import { severalIds } from '../archive/record-filter.ts';
import type { Operation } from '../operation.ts';
import { currentSecret, postSigned } from '../signed-post.ts';
import type { Stage } from '../stage.ts';
import { copyKey, countLine } from './copies.ts';
import { emptiness, queueState, sourceQueueUrl, type WaitingQueue } from './queue.ts';
import {
  attributeText,
  forEachMessage,
  type ReceivedMessage,
  readPayload,
  UnreadablePayloadError,
} from './received-message.ts';

interface RedriveOutcome {
  /** `settled` only if the message is safely stored elsewhere. */
  readonly fate: 'settled' | 'stays';
  readonly redriven: boolean;
  /** Printed after a count of messages: `moved to the queue of shop.updated`. */
  readonly what: string;
  /** Other messages would fail in the same way, so the redrive ends. */
  readonly hopeless?: boolean;
  /** Request that put the bytes on the same queue again. Its message must stay. */
  readonly requestId?: string | undefined;
}

/** An outcome with the message's id and the key of its copies ({@link copyKey}). */
type KeyedOutcome = RedriveOutcome & { readonly id: string; readonly key: string };

/**
 * Redrives one message.
 * @returns undefined if this redrive does not apply to it
 */
type RedriveOne = (message: ReceivedMessage) => Promise<RedriveOutcome | undefined>;

/**
 * Redrives messages one by one. Each is sent first, and deleted only when it is safely stored elsewhere. If the process
 * dies in between, a message is in two places, but is still processed only once.
 * @param ids of messages, events or requests, or at least {@link SHORT_ID_LENGTH} characters of one. Only these
 * messages and their copies are redriven
 * @returns whether everything requested was done
 * @throws CommandError if there is nothing to redrive, or an id does not name one message
 */
export async function redriveEach(
  operation: Operation,
  queue: WaitingQueue,
  ids?: readonly string[],
): Promise<boolean> {
  const { stack, signal, progress } = operation;
  const short = ids?.find((id) => id.length < SHORT_ID_LENGTH);
  if (short !== undefined) {
    throw new UsageError(
      `'${short}' may name several messages. Give at least ${SHORT_ID_LENGTH} characters of an id`,
    );
  }
  const redriveOne = await redriverOf(stack, queue);
  const named = ids && (await findNamed(operation, queue, ids));
  const total = named?.count ?? (await queueState(stack.sqs, queue.url)).visible;
  const outcomes: KeyedOutcome[] = [];
  const enough = new AbortController();
  const { undeleted } = await forEachMessage(
    stack,
    queue.url,
    { signal: AbortSignal.any([signal, enough.signal]) },
    async (message) => {
      const key = copyKey(queue, message);
      if (named && !named.keys.has(key)) return 'stays';
      const outcome = await redriveOne(message).catch(failed);
      if (outcome === undefined) return 'stays';
      outcomes.push({ ...outcome, id: message.id, key });
      const done = outcomes.length;
      if (outcome.hopeless || done === named?.count) enough.abort();
      progress.show({ doing: 'Redriving', done, total: Math.max(done, total), unit: 'messages' });
      return outcome.fate;
    },
  ).finally(() => progress.end());
  return await reportRedrive(operation, queue, { outcomes, undeleted, named });
}

/**
 * @returns whether everything requested was done
 * @throws CommandError if there was nothing to redrive
 */
async function reportRedrive(
  { stack, signal, printLine, report }: Operation,
  queue: WaitingQueue,
  {
    outcomes,
    undeleted,
    named,
  }: {
    readonly outcomes: readonly KeyedOutcome[];
    readonly undeleted: readonly string[];
    readonly named: Awaited<ReturnType<typeof findNamed>> | undefined;
  },
): Promise<boolean> {
  for (const [what, done] of Map.groupBy(outcomes, (outcome) => outcome.what))
    printLine(countLine(done, what));
  for (const id of undeleted) {
    printLine(
      `${id} could not be deleted, so it is still on ${queue.title}. Redriving it again does no harm.`,
    );
  }
  const reportAll = () =>
    report?.({
      stack: stack.title,
      queue: queue.name,
      outcomes: outcomes.map(({ id, what, redriven }) => ({ id, what, redriven })),
      undeleted,
      missing: named?.missing ?? [],
      interrupted: signal.aborted,
    });
  if (signal.aborted) {
    reportAll();
    printLine(`Interrupted. Messages that were not redriven are still on ${queue.title}. Nothing is lost.`);
    return false;
  }
  const notThere = named?.missing.length
    ? `Not on ${queue.title}: ${named.missing.join(', ')}. A redriven message gets a new id. If it is in flight, try again in a minute`
    : undefined;
  if (outcomes.length === 0) {
    const isEmpty = notThere === undefined || named?.isEmpty;
    throw new CommandError(
      isEmpty ? `Nothing to redrive: ${emptiness(queue, await queueState(stack.sqs, queue.url))}` : notThere,
    );
  }
  reportAll();
  if (notThere !== undefined) printLine(notThere);
  const isHopeless = outcomes.some(({ hopeless }) => hopeless);
  const unseen = isHopeless || named === undefined ? 0 : named.count - outcomes.length;
  if (unseen > 0)
    printLine(
      `${messages(unseen)} could not be redriven: another command reads or moves them. Try again in a minute.`,
    );
  const isAll = notThere === undefined && undeleted.length + unseen === 0;
  return isAll && outcomes.every(({ redriven }) => redriven);
}

/**
 * Finds messages by id, and all their copies, which may be anywhere on the queue.
 * @throws CommandError if an id is the beginning of several
 */
async function findNamed({ stack, signal }: Operation, queue: WaitingQueue, ids: readonly string[]) {
  const keys: string[] = [];
  const chosen = new Set<string>();
  const matched = new Map(ids.map((id) => [id, new Set<string>()]));
  const { seen } = await forEachMessage(stack, queue.url, { signal }, async (message) => {
    const key = copyKey(queue, message);
    keys.push(key);
    const own = [attributeText(message, 'eventId'), message.id, attributeText(message, 'requestId')];
    for (const [id, whole] of matched) {
      const found = own.find((one) => one?.startsWith(id));
      if (found === undefined) continue;
      chosen.add(key);
      whole.add(found);
    }
    return 'stays';
  });
  for (const [id, whole] of matched) if (whole.size > 1) throw severalIds(id, [...whole]);
  const missing = ids.filter((id) => matched.get(id)?.size === 0);
  const count = keys.filter((key) => chosen.has(key)).length;
  return { keys: chosen, count, missing, isEmpty: seen === 0 };
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

/** Moves a parked message to the queue of its event if the event has a consumer now. */
async function route(stack: Stage, message: ReceivedMessage): Promise<RedriveOutcome> {
  const event = attributeText(message, 'event') ?? '';
  if (sourceQueueUrl(stack, event) === undefined) return stays(`event kind '${event}' has no consumer`);
  const key = attributeText(message, 'payloadKey');
  if (key === undefined) return sendTo(stack, event, message);
  // A consumer may read only the payloads of its own event.
  const payloadKey = `${event}/${key.split('/').at(-1)}`;
  const Bucket = stack.payloadBucket;
  await stack.s3.send(
    new CopyObjectCommand({ Bucket, Key: payloadKey, CopySource: encodeURI(`${Bucket}/${key}`) }),
  );
  return sendTo(stack, event, {
    ...message,
    body: JSON.stringify({ payloadKey }),
    attributes: { ...message.attributes, payloadKey: { DataType: 'String', StringValue: payloadKey } },
  });
}

async function sendTo(stack: Stage, event: string, message: ReceivedMessage): Promise<RedriveOutcome> {
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

/** The attributes of a redriven message: all except those about the failure. */
function carriedOver({ attributes }: ReceivedMessage): Record<string, MessageAttributeValue> {
  const { failureReason: _reason, failedAt: _at, ...others } = attributes;
  return Object.fromEntries(
    Object.entries(others).map(([name, { DataType, StringValue, BinaryValue }]) => [
      name,
      { DataType, StringValue, BinaryValue },
    ]),
  );
}

/**
 * Redrives the quarantine: signs the partner's bytes with the current secret and posts them to the receiver, like a
 * delivery. Copies are posted once. If the bytes are still unusable, the receiver quarantines them again. The old
 * messages are then deleted, so the queue does not grow.
 */
async function redelivery(stack: Stage, queue: WaitingQueue): Promise<RedriveOne> {
  const url = stack.webhookUrl;
  const secret = await currentSecret(stack);
  /** Outcomes by hash of the payload. Messages that were sent by hand may have any event id. */
  const outcomes = new Map<string, Promise<RedriveOutcome>>();

  return async (message) => {
    const body = await readPayload(stack, queue, message);
    const hash = sha256Hex(body);
    const outcome = outcomes.get(hash) ?? post({ url, body, secret });
    outcomes.set(hash, outcome);
    const { requestId } = await outcome;
    const isNew = requestId !== undefined && attributeText(message, 'requestId') === requestId;
    return isNew ? undefined : outcome;
  };
}

async function post(delivery: Parameters<typeof postSigned>[0]): Promise<RedriveOutcome> {
  const answer = await postSigned(delivery).catch((error: Error) => error);
  if (answer instanceof CommandError) {
    return { ...stays(`nothing answers at ${delivery.url}`), hopeless: true };
  }
  if (answer instanceof Error) throw answer;
  const { status, type } = Object(answer.body) as { status?: unknown; type?: unknown };
  // Only the receiver's own answer proves that the bytes are stored. A proxy in front of it may answer, too.
  if (answer.status === 200 && (status === 'queued' || status === 'parked')) {
    return { fate: 'settled', redriven: true, what: `accepted by the receiver: ${status}` };
  }
  if (answer.status === 400 && type === 'urn:partner-webhooks:problem:unusable-event') {
    const { requestId } = answer;
    // Without a request id, the new message could not be distinguished from its copies, and would be deleted with them.
    if (requestId === undefined) return stays('the answer has no request id');
    const what = 'still unusable: a new message in quarantine replaces it';
    return { fate: 'settled', redriven: false, what, requestId };
  }
  return { ...stays(`the answer was ${answer.status}`), hopeless: answer.status === 401 };
}

const stays = (why: string): RedriveOutcome => ({ fate: 'stays', redriven: false, what: `stays: ${why}` });

const failed = (error: Error): RedriveOutcome =>
  stays(
    `${error instanceof UnreadablePayloadError ? 'its payload cannot be read' : error.name}: ${error.message}`,
  );
