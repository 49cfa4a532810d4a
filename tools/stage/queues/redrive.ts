import { CopyObjectCommand } from '@aws-sdk/client-s3';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { sha256Hex } from '../../../lambda/hash.ts';
import { attribute, traceAttribute } from '../../../lambda/queue/message.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { messages } from '../../terminal/text.ts';
import { type Operation, orRefusal } from '../operation.ts';
import { deleteObjects } from '../s3-objects.ts';
import { currentSecret } from '../secret-versions.ts';
import { postSigned } from '../signed-post.ts';
import type { Stage } from '../stage.ts';
import { TokenBucket } from '../token-bucket.ts';
import { MAX_PAGES_AT_ONCE } from './for-each-message.ts';
import { sourceQueueUrl, type WaitingQueue } from './queue.ts';
import {
  knownEvent,
  type ReadMessage,
  type ReceivedMessage,
  readPayload,
  storedPayload,
} from './received-message.ts';
import {
  countLines,
  forEachSelected,
  gaps,
  type MessageFilter,
  nothingTo,
  type Selection,
  selectMessages,
} from './selected-messages.ts';

interface RedriveOutcome {
  /**
   * `replaced`: still unusable, and stored once more. The message is deleted only if it is safely stored elsewhere, so
   * not if it `stays`.
   */
  readonly fate: 'redriven' | 'replaced' | 'stays';
  /** Printed after a count of messages: `moved to the queue of shop.updated`. */
  readonly what: string;
  /** Other messages would fail in the same way, so the redrive ends. */
  readonly hopeless?: boolean;
  /** Key of a large payload that nothing needs any more, because it is stored under another key. */
  readonly obsoleteKey?: string | undefined;
}

/** An outcome with the message's id and the key of its copies. */
type KeyedOutcome = RedriveOutcome & { readonly id: string; readonly key: string };

/**
 * Redrives messages one by one. Each is sent first, and deleted only when it is safely stored elsewhere. If the process
 * dies in between, a message is in two places, but is still processed only once. Then run it again.
 * @param rate maximum messages a second
 * @returns whether everything requested was done
 * @throws CommandError if there is nothing to redrive, or an id does not name one message
 */
export async function redrive(
  operation: Operation,
  queue: WaitingQueue,
  filter: MessageFilter,
  rate: number,
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const redriveOne = await redriverOf(stack, queue);
  const selection = await selectMessages(operation, queue, filter);
  if (selection.selected.length === 0 && !signal.aborted) throw await nothingTo('redrive', stack, selection);
  const outcomes: KeyedOutcome[] = [];
  const enough = new AbortController();
  const end = AbortSignal.any([signal, enough.signal]);
  const bucket = new TokenBucket(rate);
  // At a low rate, the messages of many pages would wait longer than SQS hides them. A post from the quarantine is a
  // request of the receiver, which partners need, too.
  const pages = Math.min(queue.kind === 'quarantine' ? 1 : MAX_PAGES_AT_ONCE, Math.floor(rate / 10));
  const atOnce = Math.max(1, pages);
  const options = { doing: 'Redriving', atOnce };
  const ending = { ...operation, signal: end };
  const { undeleted, unseen } = await forEachSelected(ending, selection, options, async (message, key) => {
    await bucket.take(1, end).catch(() => {});
    if (end.aborted) return 'stays';
    const at = Date.now();
    const outcome = await redriveOne(message).catch(failed);
    outcomes.push({ ...outcome, id: message.id, key });
    if (outcome.hopeless) enough.abort();
    if (outcome.fate === 'redriven' && queue.kind !== 'quarantine') operation.onRedriven?.(message, at);
    return outcome.fate === 'stays' ? 'stays' : 'settled';
  });
  printLine(`Redrive of ${queue.title} in ${stack.title}:`);
  for (const line of countLines(outcomes, ({ what }) => what)) printLine(line);
  const isHopeless = outcomes.some(({ hopeless }) => hopeless);
  const problems = [
    ...(await deleteObsoletePayloads(stack, selection, outcomes, undeleted)),
    ...(undeleted.length > 0
      ? [`${messages(undeleted.length)} could not be deleted and stay, too. Redriving again does no harm.`]
      : []),
    ...(signal.aborted
      ? [`Interrupted. Messages that were not redriven are still on ${queue.title}. Nothing is lost.`]
      : gaps(selection, isHopeless ? 0 : unseen)),
  ];
  for (const line of problems) printLine(line);
  const { missing, unreadable } = selection;
  const all = outcomes.map(({ id, what, fate }) => ({ id, what, redriven: fate === 'redriven' }));
  const result = { outcomes: all, undeleted, missing, unreadable, unseen, interrupted: signal.aborted };
  operation.report?.({ stack: stack.title, queue: queue.name, ...result });
  return problems.length + unseen === 0 && all.every(({ redriven }) => redriven);
}

const failed = ({ name, message }: Error): RedriveOutcome => stays(`${name}: ${message}`);

/**
 * Deletes large payloads that the receiver or this redrive has copied to another key. A payload stays if a message that
 * refers to it stays.
 * @returns lines about payloads that were not deleted
 */
async function deleteObsoletePayloads(
  stack: Stage,
  { selected }: Selection,
  outcomes: readonly KeyedOutcome[],
  undeleted: readonly string[],
): Promise<string[]> {
  const gone = new Set(
    outcomes.flatMap(({ id, obsoleteKey }) => (obsoleteKey && !undeleted.includes(id) ? id : [])),
  );
  const needed = new Set(
    selected.flatMap(({ messageId, payloadKey }) => (gone.has(messageId) ? [] : (payloadKey ?? []))),
  );
  const obsolete = new Set(outcomes.flatMap(({ obsoleteKey }) => obsoleteKey ?? []));
  const keys = obsolete.difference(needed);
  if (keys.size === 0) return [];
  const deleted = await orRefusal(stack, async () => {
    await deleteObjects(stack, stack.payloadBucket, keys);
    return {};
  });
  if (!('refused' in deleted)) return [];
  return [`Replaced payloads are still in the payload bucket until they expire: ${deleted.refused}`];
}

type Redriver = (message: ReceivedMessage) => Promise<RedriveOutcome>;

/** How messages of a queue are redriven: always sent, before the caller deletes them. */
async function redriverOf(stack: Stage, { kind }: WaitingQueue): Promise<Redriver> {
  if (kind === 'quarantine') return await redelivery(stack);
  if (kind !== 'removed') return (message) => route(stack, message);
  const unrouted = stack.output('UnroutedQueueUrl');
  return (message) => sendTo(stack, unrouted, 'the unrouted queue', message);
}

/** Moves a message to the queue of its event if the event has a consumer. That of a parked message may have none. */
async function route(stack: Stage, message: ReceivedMessage): Promise<RedriveOutcome> {
  const event = knownEvent(message) ?? '';
  const url = sourceQueueUrl(stack, event);
  if (url === undefined) return stays(`event kind '${event}' has no consumer`);
  const target = `the queue of ${event}`;
  const { payloadKey: key } = message.attributes;
  // A consumer may read only the payloads of its own event.
  const payloadKey = `${event}/${key?.split('/').at(-1)}`;
  if (key === undefined || key === payloadKey) return sendTo(stack, url, target, message);
  const Bucket = stack.payloadBucket;
  const copy = new CopyObjectCommand({ Bucket, Key: payloadKey, CopySource: encodeURI(`${Bucket}/${key}`) });
  await stack.s3.send(copy).catch(async (error: Error) => {
    // Another redrive may have moved a copy of this message meanwhile, and deleted the former payload.
    const isMoved = error.name === 'NoSuchKey' && (await storedPayload(stack, payloadKey)) !== undefined;
    if (!isMoved) throw error;
  });
  return { ...(await sendTo(stack, url, target, message, payloadKey)), obsoleteKey: ownKey(message) };
}

/**
 * Sends a message on, without what made it a dead letter. Attributes of a message that was sent by hand keep their type.
 * @param movedTo another key of its payload. @default the key does not change
 */
async function sendTo(
  { sqs }: Stage,
  url: string,
  target: string,
  { received: { Body, Attributes, MessageAttributes } }: ReceivedMessage,
  movedTo?: string,
): Promise<RedriveOutcome> {
  const { [attribute.failureReason]: _reason, [attribute.failedAt]: _at, ...kept } = MessageAttributes ?? {};
  if (movedTo !== undefined) kept[attribute.payloadKey] = { DataType: 'String', StringValue: movedTo };
  const attributes = Object.entries(kept).map(([name, { DataType, StringValue, BinaryValue }]) => [
    name,
    { DataType, StringValue, BinaryValue },
  ]);
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: url,
      MessageBody: movedTo === undefined ? Body : JSON.stringify({ payloadKey: movedTo }),
      MessageGroupId: Attributes?.MessageGroupId,
      ...traceAttribute(Attributes?.AWSTraceHeader),
      MessageAttributes: Object.fromEntries(attributes),
    }),
  );
  return { fate: 'redriven', what: `moved to ${target}` };
}

/** The key of a message's payload, if the receiver stored it for this queue. Other queues may need a key of theirs. */
function ownKey({ queue, attributes: { payloadKey: key } }: ReadMessage): string | undefined {
  return key?.startsWith(`${queue.name}/`) ? key : undefined;
}

/**
 * Redrives the quarantine: signs the partner's bytes with the current secret and posts them to the receiver, like a
 * delivery. Copies are posted once. If the bytes are still unusable, the receiver quarantines them again. The old
 * messages are then deleted, so the queue does not grow. That is safe because all of them were on the queue before the
 * first post: the new message is not among them, and neither is a newer one of another redrive.
 */
async function redelivery(stack: Stage): Promise<Redriver> {
  const url = stack.webhookUrl;
  const secret = await currentSecret(stack);
  /** Outcomes by hash of the payload. Messages that were sent by hand may have any event id. */
  const outcomes = new Map<string, Promise<RedriveOutcome>>();

  return async (message) => {
    const { bytes: body, unreadable } = await readPayload(stack, message);
    if (body === undefined) return stays(`its payload cannot be read: ${unreadable}`);
    const hash = sha256Hex(body);
    const posted = outcomes.get(hash) ?? post({ url, body, secret });
    outcomes.set(hash, posted);
    const outcome = await posted;
    // Bytes that are still unusable are stored again, under the same key.
    return { ...outcome, obsoleteKey: outcome.fate === 'redriven' ? ownKey(message) : undefined };
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
    return { fate: 'redriven', what: `accepted by the receiver: ${status}` };
  }
  if (status === 'ignored') return stays('the receiver ignores this kind of event: discard it');
  if (answer.status === 400 && type === 'urn:partner-webhooks:problem:unusable-event') {
    return { fate: 'replaced', what: 'still unusable: a new message in quarantine replaces it' };
  }
  return { ...stays(`the answer was ${answer.status}`), hopeless: answer.status === 401 };
}

const stays = (why: string): RedriveOutcome => ({ fate: 'stays', what: `stays: ${why}` });
