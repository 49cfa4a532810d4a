import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, DeleteObjectsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { sha256Hex } from '../../../lambda/hash.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { counted } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { type FoundInObject, type Person, PersonalData } from './personal-data.ts';
import { countFailedObjects, describeDamage, listObjects, readArchive } from './read-archive.ts';
import { lateness } from './retention.ts';
import { rewriteObject } from './rewrite-object.ts';

/** Maximum number of keys per call. Source: S3 API reference, `DeleteObjects`. */
const MAX_DELETED = 1_000;

/** Key prefix of Athena's query results, which may contain payloads. */
const QUERIES_PREFIX = 'queries/';

interface ForgetOptions {
  readonly dryRun: boolean;
  readonly agreed: (question: string) => Promise<boolean>;
}

interface ForgetCounts {
  records: number;
  /** Number of records of other people whose payload was past its retention. */
  expired: number;
  objects: number;
  payloads: number;
  queryResults: number;
}

/**
 * Removes the payload from each record that names one of these people. Also deletes the objects in the payload bucket
 * that such records refer to, and the query results. If there is anything to remove, writes a note without the ids. S3
 * counts a rewritten object as new, so other people's expired payloads are removed from it, too. If a run stops
 * half-way, the next run continues it.
 * @returns false if not everything could be searched, or if it was interrupted or declined
 */
export async function forget(
  operation: Operation,
  persons: readonly Person[],
  { dryRun, agreed }: ForgetOptions,
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const data = await PersonalData.of(stack, persons);
  const search = await searchArchive(operation, data);
  if (search === undefined) return false;
  for (const line of describeSearch(stack, data, search)) printLine(line);
  const { found, isWhole } = search;
  if (found.length + search.queryResults === 0) {
    printLine('Nothing was found, so nothing was changed.');
    for (const line of await whatIsLeft(stack)) printLine(line);
    return isWhole;
  }
  if (dryRun || !(await agreed('Remove this permanently?'))) {
    printLine('Nothing was changed.');
    return dryRun && isWhole;
  }

  const done: ForgetCounts = { records: 0, expired: 0, objects: 0, payloads: 0, queryResults: 0 };
  await takeOut(operation, data, found, done);
  if (!signal.aborted) done.queryResults = await deleteQueryResults(stack);
  const complete = isWhole && !signal.aborted;
  const note = await writeNote(stack, persons, { ...done, complete });
  if (signal.aborted) {
    printLine(
      `Interrupted after ${done.objects} of ${counted(found.length, 'object')}. The note is ${note}.`,
    );
    printLine('What was removed stays removed. Repeat the command to continue.');
    return false;
  }
  printLine(`Done: removed the payload of ${counted(done.records + done.expired, 'record')}.`);
  printLine(`The note, without the ids, is ${note} in the bucket of the archive.`);
  for (const line of await whatIsLeft(stack)) printLine(line);
  return complete;
}

/**
 * Finds the objects to rewrite, and what else there is to delete.
 * @returns undefined if Ctrl-C ended it
 */
async function searchArchive({ stack, signal, progress, printLine }: Operation, data: PersonalData) {
  const found: FoundInObject[] = [];
  const reading = readArchive(stack, { events: 'every', signal, progress, doing: 'Searching' });
  for await (const object of reading) {
    const inObject = await data.in(object);
    const isToRewrite = inObject.records > 0 || inObject.isOverdue;
    if (isToRewrite && object.damage === undefined) found.push(inObject);
  }
  const { damaged, total, objects } = reading;
  if (signal.aborted) {
    printLine(`Interrupted after ${objects} of ${counted(total, 'object')}. Nothing was changed.`);
    return undefined;
  }
  let queryResults = 0;
  for await (const _ of listObjects(stack, QUERIES_PREFIX)) queryResults += 1;
  const failedObjects = await countFailedObjects(stack, { events: 'every' });
  const isWhole = damaged.length === 0 && failedObjects === 0;
  return { found, damaged, total, queryResults, failedObjects, isWhole };
}

function describeSearch(
  { title }: Stage,
  { asText, days }: PersonalData,
  {
    found,
    damaged,
    total,
    queryResults,
    failedObjects,
  }: NonNullable<Awaited<ReturnType<typeof searchArchive>>>,
): string[] {
  const named = found.filter(({ records }) => records > 0);
  const records = named.reduce((sum, { records }) => sum + records, 0);
  const expired = found.reduce((sum, { expired }) => sum + expired, 0);
  const payloads = new Set(named.flatMap(({ payloadKeys }) => [...payloadKeys])).size;
  const lines: (string | false)[] = [
    `Searched ${counted(total, 'object')} of the archive of ${title}.`,
    records === 0
      ? 'No record has the given ids.'
      : `To remove: the payloads of ${counted(records, 'record')} in ${counted(named.length, 'object')}`,
    asText > 0 && `  ${asText} of them are not usable events, but have the id in their text`,
    days === undefined &&
      'The retention of payloads is unknown, so expired payloads stay in the rewritten objects.',
    expired > 0 && `Also to remove: ${counted(expired, 'payload')} of others, older than ${days} days`,
    payloads > 0 && `To delete: ${counted(payloads, 'object')} of the payload bucket`,
    queryResults > 0 &&
      `To delete: ${counted(queryResults, 'object')} with results of queries, about any person`,
    ...describeDamage(damaged),
    failedObjects > 0 &&
      `Not searched: ${counted(failedObjects, 'object')} under failed=, which Firehose could not deliver.`,
  ];
  return lines.filter((line) => line !== false);
}

/** Sentences about data that `forget` does not reach. */
async function whatIsLeft(stack: Stage): Promise<string[]> {
  const late = lateness(stack) ?? 'some seconds';
  return [
    `Firehose may have records of the last minutes: repeat the command in ${late}.`,
    'Not changed: tables, queues with their dead letters, quarantined and unrouted events, exported files.',
    'SQL that names them is not changed either: Athena keeps the history of queries for 45 days, and saved queries until you delete them.',
  ];
}

/**
 * Removes the payloads, object by object. Payloads in the payload bucket are deleted first: without its record, a
 * payload could not be found.
 */
async function takeOut(
  { stack, signal, progress }: Operation,
  data: PersonalData,
  found: readonly FoundInObject[],
  done: ForgetCounts,
): Promise<void> {
  const forgottenAt = new Date().toISOString();
  const deleted = new Set<string>();
  try {
    for (const { key, payloadKeys } of found) {
      if (signal.aborted) return;
      for (const payloadKey of payloadKeys) {
        if (deleted.has(payloadKey)) continue;
        await stack.s3.send(new DeleteObjectCommand({ Bucket: stack.payloadBucket, Key: payloadKey }));
        deleted.add(payloadKey);
        done.payloads += 1;
      }
      const changed = await rewriteObject(stack, key, (line) => data.withoutPayload(line, forgottenAt));
      done.records += changed.get('named') ?? 0;
      done.expired += changed.get('expired') ?? 0;
      done.objects += 1;
      progress.show({ doing: 'Rewriting', done: done.objects, total: found.length, unit: 'objects' });
    }
  } finally {
    progress.end();
  }
}

async function deleteQueryResults(stack: Stage): Promise<number> {
  const Bucket = stack.archiveBucket;
  let count = 0;
  let page: { Key: string }[] = [];
  const deletePage = async () => {
    if (page.length === 0) return;
    const { Errors: [error] = [] } = await stack.s3.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: page, Quiet: true } }),
    );
    if (error !== undefined) throw new CommandError(`${error.Key} could not be deleted: ${error.Code}`);
    count += page.length;
    page = [];
  };
  for await (const { key } of listObjects(stack, QUERIES_PREFIX)) {
    page.push({ Key: key });
    if (page.length === MAX_DELETED) await deletePage();
  }
  await deletePage();
  return count;
}

/**
 * Writes when and by whom payloads were removed, with hashes of the persons' ids.
 * @returns the key of the note
 */
async function writeNote(
  stack: Stage,
  persons: readonly Person[],
  done: ForgetCounts & { readonly complete: boolean },
): Promise<string> {
  const at = new Date().toISOString();
  const key = `forgotten/${at}-${randomUUID().slice(0, 8)}.json`;
  const note = {
    at,
    by: await stack.caller(),
    persons: persons.map(({ kind, id }) => ({ kind, idSha256: sha256Hex(id) })),
    ...done,
  };
  await stack.s3.send(
    new PutObjectCommand({
      Bucket: stack.archiveBucket,
      Key: key,
      Body: `${JSON.stringify(note, undefined, 2)}\n`,
      ContentType: 'application/json',
    }),
  );
  return key;
}
