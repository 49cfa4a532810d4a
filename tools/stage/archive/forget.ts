import { randomUUID } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { sha256Hex } from '../../../lambda/hash.ts';
import {
  DEAD_LETTER_RETENTION_DAYS,
  EVENT_RETENTION_DAYS,
  TABLE_RECOVERY_DAYS,
} from '../../../lambda/limits.ts';
import { counted } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { deleteLogged, notDiscarded } from '../queues/dlq-discard.ts';
import { queueState } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';
import { findItem, findMessages, findPayloads, leaveTombstone } from './forget-elsewhere.ts';
import { countReasons, redactor, rewriteObjects, searchRecords } from './forget-records.ts';
import type { Person } from './person.ts';
import { countFailedObjects, deleteObjects, describeDamage, keysUnder } from './read-archive.ts';
import { archiveDays, lateness } from './retention.ts';

const DAY = 24 * 60 * 60 * 1000;

/** Key prefix of Athena's query results, which may contain payloads. */
const QUERIES_PREFIX = 'queries/';

/** Days for which Athena keeps the text of a query. Source: Athena user guide, "View query history". */
const QUERY_HISTORY_DAYS = 45;

interface ForgetOptions {
  readonly dryRun: boolean;
  readonly agreed: (question: string) => Promise<boolean>;
}

/**
 * Removes what a stage has of these people: payloads from records and from the payload bucket, items, messages that
 * nothing consumes, and all query results. Names what else may have their data. If there is anything to remove, writes
 * a note without the ids. S3 counts a rewritten object as new, so other people's expired payloads are removed from it,
 * too. If a run stops half-way, the next run continues it.
 * @returns false if not everything could be searched, or if it was interrupted or declined
 */
export async function forget(
  operation: Operation,
  persons: readonly Person[],
  { dryRun, agreed }: ForgetOptions,
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const found = await search(operation, persons);
  if (signal.aborted) {
    printLine('Interrupted. Nothing was changed.');
    return false;
  }
  const toRemove = describeFound(found);
  printLine(
    `Searched ${stack.title}: ${counted(found.total, 'object')} of the archive, payload bucket, tables and queues.`,
  );
  for (const line of [...toRemove, ...describeUnsearched(stack, found)]) printLine(line);
  const { isWhole } = found;
  const isFound = toRemove.length > 0;
  if (isFound && (dryRun || !(await agreed('Remove this permanently?')))) {
    printLine('Nothing was changed.');
    return dryRun && isWhole;
  }
  const { tombstones, isComplete } = isFound ? await remove(operation, persons, found) : NOTHING;
  if (!isFound) printLine('Nothing was found, so nothing was changed.');
  for (const line of await whatIsLeft(stack, tombstones)) printLine(line);
  return isWhole && isComplete;
}

const NOTHING = { tombstones: [], isComplete: true };

async function search(operation: Operation, persons: readonly Person[]) {
  const { stack } = operation;
  const payloads = await findPayloads(operation, persons);
  const days = stack.hasArchive ? await archiveDays(stack) : undefined;
  const redact = redactor(persons, payloads, days);
  const inArchive = stack.hasArchive
    ? {
        ...(await searchRecords(operation, redact)),
        failedObjects: await countFailedObjects(stack, { events: 'every' }),
        queryResults: await keysUnder(stack, stack.archiveBucket, QUERIES_PREFIX),
      }
    : { found: [], damaged: [], total: 0, failedObjects: 0, queryResults: [] };
  const items = (await Promise.all(persons.map((person) => findItem(stack, person)))).filter(
    (item) => item !== undefined,
  );
  const messages = await findMessages(operation, persons, payloads);
  const isSearched = messages.every(({ unseen }) => unseen === 0);
  const isWhole = inArchive.damaged.length + inArchive.failedObjects === 0 && isSearched;
  return { ...inArchive, payloads, days, redact, items, messages, isWhole };
}

type Found = Awaited<ReturnType<typeof search>>;

const linesOf = (...lines: readonly (string | false)[]) => lines.filter((line) => line !== false);

function describeFound({ found, days, payloads, queryResults, items, messages }: Found): string[] {
  const { named, inText, expired } = countReasons(found.flatMap(({ reasons }) => reasons));
  const objects = found.filter(({ reasons }) => countReasons(reasons).named > 0).length;
  return linesOf(
    named > 0 && `To remove: the payloads of ${counted(named, 'record')} in ${counted(objects, 'object')}`,
    inText > 0 && `  ${inText} of them are not events that we know, but have the id in their text`,
    expired > 0 && `To remove: ${counted(expired, 'payload')} of others, older than ${days} days`,
    payloads.size > 0 && `To delete: ${counted(payloads.size, 'object')} of the payload bucket`,
    queryResults.length > 0 &&
      `To delete: ${counted(queryResults.length, 'object')} with results of queries, about any person`,
    ...items.map(({ TableName }) => `To replace by a tombstone: the item in ${TableName}`),
    ...messages.map(
      ({ queue, named }) =>
        named.length > 0 && `To discard: ${counted(named.length, 'message')} on ${queue.title}`,
    ),
  );
}

function describeUnsearched(stack: Stage, { damaged, days, failedObjects, messages }: Found): string[] {
  const expiry = days === undefined ? 'Their expiry is unknown' : `S3 deletes them by ${dateIn(days + 1)}`;
  const bucket = stack.hasArchive && `s3://${stack.archiveBucket}`;
  return linesOf(
    bucket && days === undefined && 'The retention of payloads is unknown, so expired ones of others stay.',
    ...describeDamage(damaged),
    damaged.length > 0 && `${expiry}. To delete one now: aws s3 rm ${bucket}/KEY`,
    failedObjects > 0 &&
      `Not searched: ${counted(failedObjects, 'object')} under failed=, which Firehose could not deliver. ${expiry}. To delete them now: aws s3 rm ${bucket}/ --recursive --exclude '*' --include 'event=*/failed=*'`,
    ...messages.map(
      ({ queue, unseen }) =>
        unseen > 0 &&
        `Not searched: ${counted(unseen, 'message')} in flight on ${queue.title}. Repeat the command in a minute. SQS deletes them by ${dateIn(DEAD_LETTER_RETENTION_DAYS)}`,
    ),
  );
}

/** Removes what was found. Stored payloads are deleted last: without them, a later run would not find their records. */
async function remove(
  operation: Operation,
  persons: readonly Person[],
  { found, redact, payloads, queryResults, items, messages, isWhole }: Found,
) {
  const { stack, signal, printLine } = operation;
  const rewritten = await rewriteObjects(operation, found, redact);
  const done = { ...rewritten, payloads: 0, queryResults: 0, items: 0, messages: 0 };
  const tombstones: string[] = [];
  const who = { by: await stack.caller(), reason: 'a person is forgotten' };
  for (const { queue, named } of messages) {
    if (signal.aborted || named.length === 0) continue;
    done.messages += (await deleteLogged(operation, queue, named, who)).discarded;
  }
  if (!signal.aborted) {
    for (const item of items) tombstones.push(await leaveTombstone(stack, item));
    done.items = items.length;
    if (stack.hasArchive) await deleteObjects(stack, stack.archiveBucket, queryResults);
    done.queryResults = queryResults.length;
    await deleteObjects(stack, stack.payloadBucket, payloads);
    done.payloads = payloads.size;
  }
  const wanted = messages.reduce((sum, { named }) => sum + named.length, 0);
  const left = wanted - done.messages;
  const isComplete = !signal.aborted && left === 0;
  const removed = `removed the payload of ${counted(done.records + done.expired, 'record')}`;
  printLine(
    signal.aborted
      ? `Interrupted: ${removed}. What was removed stays removed. Repeat the command to continue.`
      : `Done: ${removed}, ${counted(done.payloads, 'stored payload')}, ${counted(done.items, 'item')} and ${counted(done.messages, 'message')}.`,
  );
  if (left > 0) printLine(`${notDiscarded(left)} Repeat the command in a minute.`);
  const note = await writeNote(stack, persons, { ...done, complete: isWhole && isComplete });
  if (note) printLine(`The note, without the ids, is ${note} in the bucket of the archive.`);
  return { tombstones, isComplete };
}

const dateIn = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

/** What else may have a person's data: the command that deletes it, or when it expires. */
async function whatIsLeft(stack: Stage, tombstones: readonly string[]): Promise<string[]> {
  const waiting = await Promise.all(
    stack.events.map(async (event) => {
      const { visible, inFlight } = await queueState(stack.sqs, stack.ofEvent(event, 'QueueUrl'));
      return visible + inFlight > 0 && `${counted(visible + inFlight, 'message')} of ${event}`;
    }),
  );
  const queued = linesOf(...waiting);
  return linesOf(
    `Firehose may have records of the last minutes: repeat the command in ${lateness(stack) ?? 'some seconds'}.`,
    queued.length > 0 &&
      `Not searched, because reading would count as an attempt: ${queued.join(', ')}. Repeat the command when they are gone: ${stack.command('list')}. SQS deletes them by ${dateIn(EVENT_RETENTION_DAYS)}.`,
    ...tombstones,
    !stack.local &&
      `Backups: until ${dateIn(TABLE_RECOVERY_DAYS)}, a restore of a table brings the data back. Repeat the command after it.`,
    'Files that export and discard wrote: find them with grep -rlF ID FOLDER, and delete them.',
    'Notifications that were sent: ask those who got them. Logs have no payloads.',
    `Texts of queries that name the person: Athena keeps the history until ${dateIn(QUERY_HISTORY_DAYS)}. Delete saved queries yourself.`,
    stack.local && 'A console of this stack has what it showed in memory until you end it with Ctrl-C.',
  );
}

/**
 * Writes when and by whom payloads were removed, with hashes of the persons' ids.
 * @returns the key of the note; undefined if the stage has no archive
 */
async function writeNote(
  stack: Stage,
  persons: readonly Person[],
  done: object,
): Promise<string | undefined> {
  if (!stack.hasArchive) return undefined;
  const at = new Date().toISOString();
  const Key = `forgotten/${at}-${randomUUID().slice(0, 8)}.json`;
  const hashed = persons.map(({ kind, id }) => ({ kind, idSha256: sha256Hex(id) }));
  const note = { at, by: await stack.caller(), persons: hashed, ...done };
  const Body = `${JSON.stringify(note, undefined, 2)}\n`;
  await stack.s3.send(
    new PutObjectCommand({ Bucket: stack.archiveBucket, Key, Body, ContentType: 'application/json' }),
  );
  return Key;
}
