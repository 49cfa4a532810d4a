import { messages } from '../../terminal/text.ts';
import { deleteObjects } from '../delete-objects.ts';
import { type Operation, orRefusal } from '../operation.ts';
import { TokenBucket } from '../replay/token-bucket.ts';
import type { Stage } from '../stage.ts';
import { countLines } from './copies.ts';
import { MAX_PAGES_AT_ONCE } from './for-each-message.ts';
import type { AnyQueue } from './queue.ts';
import { attributesOf, type ReceivedMessage } from './received-message.ts';
import { type RedriveOutcome, redriverOf, stays } from './redriver.ts';
import {
  forEachSelected,
  gaps,
  type MessageFilter,
  nothingTo,
  type Selection,
  selectMessages,
} from './selected-messages.ts';

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
  queue: AnyQueue,
  filter: MessageFilter,
  rate: number,
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const redriveOne = await redriverOf(stack, queue);
  const keyOf = (message: ReceivedMessage) => attributesOf(message).payloadKey;
  const selection = await selectMessages(operation, queue, filter, keyOf);
  const { selected } = selection;
  if (selected.length === 0 && !signal.aborted) throw await nothingTo('redrive', stack, queue, selection);
  const outcomes: KeyedOutcome[] = [];
  const enough = new AbortController();
  const end = AbortSignal.any([signal, enough.signal]);
  const bucket = new TokenBucket(rate);
  // At a low rate, the messages of many pages would wait longer than SQS hides them. A post from the quarantine is a
  // request of the receiver, which partners need, too.
  const pages = Math.min(queue.kind === 'quarantine' ? 1 : MAX_PAGES_AT_ONCE, Math.floor(rate / 10));
  const atOnce = Math.max(1, pages);
  const options = { doing: 'Redriving', atOnce, signal: end };
  const { undeleted, unseen } = await forEachSelected(
    operation,
    queue,
    selection,
    options,
    async (message, key) => {
      await bucket.take(1, end).catch(() => {});
      if (end.aborted) return 'stays';
      const at = Date.now();
      const outcome = await redriveOne(message).catch(failed);
      outcomes.push({ ...outcome, id: message.id, key });
      if (outcome.hopeless) enough.abort();
      if (outcome.moved) operation.onRedriven?.(message, at);
      return outcome.fate === 'stays' ? 'stays' : 'settled';
    },
  );
  printLine(`Redrive of ${queue.title} in ${stack.title}:`);
  for (const line of countLines(outcomes, ({ what }) => what)) printLine(line);
  const isHopeless = outcomes.some(({ hopeless }) => hopeless);
  const problems = [
    ...(await deleteReplaced(stack, selection, outcomes, undeleted)),
    ...(undeleted.length > 0
      ? [`${messages(undeleted.length)} could not be deleted and stay, too. Redriving again does no harm.`]
      : []),
    ...(signal.aborted
      ? [`Interrupted. Messages that were not redriven are still on ${queue.title}. Nothing is lost.`]
      : gaps(queue, selection, isHopeless ? 0 : unseen)),
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
async function deleteReplaced(
  stack: Stage,
  { selected }: Selection<string | undefined>,
  outcomes: readonly KeyedOutcome[],
  undeleted: readonly string[],
): Promise<string[]> {
  const gone = new Set(
    outcomes.flatMap(({ id, replaces }) => (replaces && !undeleted.includes(id) ? id : [])),
  );
  const needed = new Set(selected.flatMap(({ id, shown: key }) => (gone.has(id) ? [] : (key ?? []))));
  const replaced = new Set(outcomes.flatMap(({ replaces }) => replaces ?? []));
  const keys = [...replaced].filter((key) => !needed.has(key));
  const deleted = await orRefusal(stack, async () => {
    if (keys.length > 0) await deleteObjects(stack, stack.payloadBucket, keys);
    return {};
  });
  if (!('refused' in deleted)) return [];
  return [`Replaced payloads are still in the payload bucket until they expire: ${deleted.refused}`];
}
