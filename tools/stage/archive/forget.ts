import { randomUUID } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { sha256Hex } from '../../../lambda/hash.ts';
import { EVENT_RETENTION_DAYS, TABLE_RECOVERY_DAYS } from '../../../lambda/limits.ts';
import { counted } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { queueState } from '../queues/queue.ts';
import { keysUnder } from '../s3-objects.ts';
import type { Stage } from '../stage.ts';
import { findItems, findMessages, findPayloads, objectsOf } from './forget-elsewhere.ts';
import { findPersonalRecords } from './forget-records.ts';
import type { Person, PlaceOfPerson } from './person.ts';
import { dateIn, lateness } from './read-archive.ts';

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
  const places = await search(operation, persons);
  if (signal.aborted) {
    printLine('Interrupted. Nothing was changed.');
    return false;
  }
  const found = places.flatMap((place) => place.found);
  const unsearched = places.flatMap((place) => place.unsearched ?? []);
  const isWhole = unsearched.length === 0;
  const archive = stack.hasArchive ? 'archive, ' : '';
  const searched = `Searched ${stack.title}: ${archive}payload bucket, tables and queues.`;
  for (const line of [searched, ...found, ...unsearched]) printLine(line);
  if (found.length > 0 && (dryRun || !(await agreed('Remove this permanently?')))) {
    printLine('Nothing was changed.');
    return dryRun && isWhole;
  }
  if (found.length === 0) printLine('Nothing was found, so nothing was changed.');
  const { left, isComplete } =
    found.length > 0 ? await remove(operation, persons, places, isWhole) : { left: [], isComplete: true };
  for (const line of await whatIsLeft(stack, left)) printLine(line);
  return isWhole && isComplete;
}

/** Key prefix of Athena's query results, which may contain payloads. */
const QUERIES_PREFIX = 'queries/';

/** The places in the order of removal. Stored payloads are the last: without them, a later run finds no records. */
async function search(operation: Operation, persons: readonly Person[]): Promise<PlaceOfPerson[]> {
  const { stack } = operation;
  const keys = await findPayloads(operation, persons);
  const payloads = new Set(keys);
  const places = [await findMessages(operation, persons, payloads), await findItems(stack, persons)];
  if (stack.hasArchive) {
    places.unshift(await findPersonalRecords(operation, persons, payloads));
    const results = await keysUnder(stack, stack.archiveBucket, QUERIES_PREFIX);
    places.push(objectsOf(stack, stack.archiveBucket, results, 'with results of queries, about any person'));
  }
  return [...places, objectsOf(stack, stack.payloadBucket, keys, 'of the payload bucket')];
}

async function remove(
  operation: Operation,
  persons: readonly Person[],
  places: readonly PlaceOfPerson[],
  isWhole: boolean,
) {
  const { stack, signal, printLine } = operation;
  const left: string[] = [];
  const undone: string[] = [];
  for (const place of places.filter(({ found }) => found.length > 0)) {
    if (signal.aborted) break;
    undone.push(...(await place.remove()));
    left.push(...(place.left ?? []));
  }
  const interrupted = 'Interrupted. What was removed stays removed. Repeat the command to continue.';
  for (const line of [signal.aborted ? interrupted : 'Done.', ...undone]) printLine(line);
  const isComplete = !signal.aborted && undone.length === 0;
  const complete = isWhole && isComplete;
  const note = await writeNote(stack, persons, { found: places.flatMap(({ found }) => found), complete });
  if (note) printLine(`The note, without the ids, is ${note} in the bucket of the archive.`);
  return { left, isComplete };
}

/** What else may have a person's data: the command that deletes it, or when it expires. */
async function whatIsLeft(stack: Stage, left: readonly string[]): Promise<string[]> {
  const waiting = await Promise.all(
    stack.events.map(async (event) => {
      const { visible, inFlight } = await queueState(stack.sqs, stack.ofEvent(event, 'QueueUrl'));
      return visible + inFlight > 0 && `${counted(visible + inFlight, 'message')} of ${event}`;
    }),
  );
  const queued = waiting.filter((text) => text !== false);
  return [
    `Firehose may have records of the last minutes: repeat the command in ${lateness(stack) ?? 'some seconds'}.`,
    queued.length > 0 &&
      `Not searched, because reading would count as an attempt: ${queued.join(', ')}. Repeat the command when they are gone: ${stack.command('list')}. SQS deletes them by ${dateIn(EVENT_RETENTION_DAYS)}.`,
    ...left,
    !stack.local &&
      `Backups: until ${dateIn(TABLE_RECOVERY_DAYS)}, a restore of a table brings the data back. Repeat the command after it.`,
    'Files that export and discard wrote: find them with grep -rlF ID FOLDER, and delete them.',
    'Notifications that were sent: ask those who got them. Logs have no payloads.',
    `Texts of queries that name the person: Athena keeps the history until ${dateIn(QUERY_HISTORY_DAYS)}. Delete saved queries yourself.`,
    stack.local && 'A console of this stack has what it showed in memory until you end it with Ctrl-C.',
  ].filter((line) => line !== false);
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
