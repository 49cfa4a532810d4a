import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { attribute } from '../../../lambda/queue/message.ts';
import { messages } from '../../terminal/text.ts';
import { type Operation, orRefusal } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { countLine } from './copies.ts';
import { MAX_PAGES_AT_ONCE } from './for-each-message.ts';
import type { AnyQueue } from './queue.ts';
import { attributeText, UnreadablePayloadError } from './received-message.ts';
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

interface RedriveResult {
  readonly outcomes: readonly KeyedOutcome[];
  /** Ids of messages that were redriven and could not be deleted. */
  readonly undeleted: readonly string[];
  /** Number of messages that were not found again. */
  readonly unseen: number;
}

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
  filter: MessageFilter = {},
  rate = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const redriver = await redriverOf(stack, queue);
  const keyOf = (message: Parameters<typeof attributeText>[0]) =>
    attributeText(message, attribute.payloadKey);
  const selection = await selectMessages(operation, queue, filter, keyOf);
  const { selected } = selection;
  if (selected.length === 0 && !signal.aborted) throw await nothingTo('redrive', stack, queue, selection);
  const outcomes: KeyedOutcome[] = [];
  const enough = new AbortController();
  const end = AbortSignal.any([signal, enough.signal]);
  const turn = turns(rate, end);
  // At a low rate, the messages of many pages would wait longer than SQS hides them.
  const atOnce = Math.max(1, Math.min(redriver.atOnce ?? MAX_PAGES_AT_ONCE, Math.floor(rate / 10)));
  const options = { doing: 'Redriving', atOnce, signal: end };
  const visited = await forEachSelected(operation, queue, selection, options, async (message, key) => {
    await turn();
    if (end.aborted) return 'stays';
    const at = Date.now();
    const outcome = await redriver.redrive(message).catch(failed);
    outcomes.push({ ...outcome, id: message.id, key });
    if (outcome.hopeless) enough.abort();
    if (outcome.moved) operation.onRedriven?.(message, at);
    return outcome.fate;
  });
  const result = { outcomes, ...visited };
  for (const line of await deleteReplaced(stack, selection, result)) printLine(line);
  return report(operation, queue, selection, result);
}

/** @returns a function whose calls end one after the other, at most `rate` a second. It ends at once after an abort */
function turns(rate: number, signal: AbortSignal): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = Date.now();
    const at = Math.max(now, next);
    next = at + 1000 / rate;
    if (at > now) await sleep(at - now, undefined, { signal }).catch(() => {});
  };
}

const failed = (error: Error): RedriveOutcome =>
  stays(
    `${error instanceof UnreadablePayloadError ? 'its payload cannot be read' : error.name}: ${error.message}`,
  );

/** Maximum keys per call. Source: S3 API reference, `DeleteObjects`. */
const MAX_KEYS = 1_000;

/**
 * Deletes large payloads that the receiver or this redrive has copied to another key. A payload stays if a message that
 * refers to it stays.
 * @returns lines about payloads that were not deleted
 */
async function deleteReplaced(
  stack: Stage,
  { selected }: Selection<string | undefined>,
  { outcomes, undeleted }: RedriveResult,
): Promise<string[]> {
  const gone = new Set(
    outcomes.flatMap(({ id, replaces }) => (replaces && !undeleted.includes(id) ? id : [])),
  );
  const needed = new Set(selected.flatMap(({ id, shown: key }) => (gone.has(id) ? [] : (key ?? []))));
  const replaced = new Set(outcomes.flatMap(({ replaces }) => replaces ?? []));
  const keys = [...replaced].filter((key) => !needed.has(key));
  for (let from = 0; from < keys.length; from += MAX_KEYS) {
    const Objects = keys.slice(from, from + MAX_KEYS).map((Key) => ({ Key }));
    const command = new DeleteObjectsCommand({ Bucket: stack.payloadBucket, Delete: { Objects } });
    const deleted = await orRefusal(stack, () => stack.s3.send(command));
    const why = 'refused' in deleted ? deleted.refused : deleted.Errors?.[0]?.Message;
    if (why !== undefined)
      return [`Replaced payloads are still in the payload bucket until they expire: ${why}`];
  }
  return [];
}

/** @returns whether everything requested was done */
function report(
  { stack, signal, printLine, report }: Operation,
  queue: AnyQueue,
  selection: Selection,
  { outcomes, undeleted, unseen }: RedriveResult,
): boolean {
  for (const [what, done] of Map.groupBy(outcomes, (outcome) => outcome.what))
    printLine(countLine(done, what));
  if (undeleted.length > 0) {
    printLine(
      `${messages(undeleted.length)} could not be deleted, and so ${undeleted.length === 1 ? 'is' : 'are'} still on ${queue.title}, too. Redriving again does no harm.`,
    );
  }
  const isHopeless = outcomes.some(({ hopeless }) => hopeless);
  const { missing, unreadable } = selection;
  report?.({
    stack: stack.title,
    queue: queue.name,
    outcomes: outcomes.map(({ id, what, redriven }) => ({ id, what, redriven })),
    undeleted,
    missing,
    unreadable,
    unseen,
    interrupted: signal.aborted,
  });
  if (signal.aborted) {
    printLine(`Interrupted. Messages that were not redriven are still on ${queue.title}. Nothing is lost.`);
    return false;
  }
  const lines = gaps(queue, selection);
  for (const line of lines) printLine(line);
  if (unseen > 0 && !isHopeless) {
    printLine(
      `${messages(unseen)} could not be redriven: another command reads or moves them. Try again in a minute.`,
    );
  }
  return lines.length + undeleted.length + unseen === 0 && outcomes.every(({ redriven }) => redriven);
}
