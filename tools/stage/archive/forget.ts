import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, DeleteObjectsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { sha256Hex } from '../../../lambda/hash.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { caller } from '../caller.ts';
import type { Operation } from '../operation.ts';
import { payloadBucket } from '../queues/payload.ts';
import type { Stage } from '../stage.ts';
import { type Held, parseHeld } from './held.ts';
import { objectLines } from './lines.ts';
import { archiveBucket, everyObject, listed } from './objects.ts';
import { storedPayload } from './payload.ts';
import { type Mention, mentionIn, mentionInText, type Person } from './person.ts';
import { lateness } from './retention.ts';
import { rewriteObject } from './rewrite.ts';
import { describeDamage, eachListed, lateProgress } from './scan.ts';
import { Term } from './term.ts';

/** Objects that are searched at a time. */
const PARALLEL = 8;

/** Keys of one call at most. Source: S3 API reference, `DeleteObjects`. */
const MOST_DELETED = 1_000;

/** What Athena has answered, which may hold payloads. */
const QUERIES_PREFIX = 'queries/';

interface ForgetOptions {
  /** Says what would be done, and does nothing. */
  readonly dryRun: boolean;
  /** Asked before anything is changed. */
  readonly agreed: (question: string) => Promise<boolean>;
}

/** What a search found in an object. */
interface Found {
  readonly key: string;
  /** That name somebody. */
  readonly records: number;
  readonly payloadKeys: ReadonlySet<string>;
  /** Others that hold a payload beyond its term, which a rewriting would keep once more. */
  readonly expired: number;
  /** Whether that is so since the object was rewritten before. */
  readonly isOverdue: boolean;
}

/** What has been done. */
interface Done {
  records: number;
  /** Records that name nobody who was asked for, whose payload was beyond its term. */
  expired: number;
  objects: number;
  payloads: number;
  queryResults: number;
}

/**
 * `forget`: takes the payload out of each record that names somebody, deletes what such records refer to in the payload
 * bucket and the results of queries, and leaves a note of that without the ids. As a rewritten object is a new one for
 * S3, what has outlived its term goes out of it, too. Whatever ends it half-way, repeating it goes on where it was.
 * @returns false where not all could be searched, or it was interrupted or declined
 */
export async function forget(
  operation: Operation,
  persons: readonly Person[],
  { dryRun, agreed }: ForgetOptions,
): Promise<boolean> {
  const { stack, signal, say } = operation;
  const term = await Term.of(stack);
  const search = new Search(stack, persons, term);
  const rewritten: Found[] = [];
  const { damaged, total, objects } = await eachListed(
    { signal },
    () => everyObject(stack, { failed: false }),
    'Searching',
    PARALLEL,
    async ({ key }) => {
      const found = await search.object(key, signal);
      if (found.records > 0 || found.isOverdue) rewritten.push(found);
    },
  );
  if (signal.aborted) {
    say(`Interrupted after ${objects} of ${counted(total, 'object')}. Nothing has been changed.`);
    return false;
  }
  // Searched in no order, rewritten in this one.
  rewritten.sort((one, other) => (one.key < other.key ? -1 : 1));
  let queryResults = 0;
  for await (const _ of listed(stack, QUERIES_PREFIX)) queryResults += 1;
  let failedObjects = 0;
  for await (const _ of everyObject(stack, { failed: true })) failedObjects += 1;
  const isWhole = damaged.length === 0 && failedObjects === 0;

  const named = rewritten.filter((found) => found.records > 0);
  const records = named.reduce((sum, found) => sum + found.records, 0);
  const expired = rewritten.reduce((sum, found) => sum + found.expired, 0);
  const payloads = new Set(named.flatMap(({ payloadKeys }) => [...payloadKeys])).size;
  say(`Searched ${counted(total, 'object')} of the archive of ${stack.title}.`);
  say(
    records === 0
      ? 'No record that it holds names them.'
      : `To be taken out: the payloads of ${counted(records, 'record')} in ${counted(named.length, 'object')}`,
  );
  if (search.asText > 0) say(`  of which ${search.asText} are no usable events, and hold the id as text`);
  if (term === undefined) {
    say('How long it keeps payloads cannot be known: those beyond their term stay in what is rewritten.');
  } else if (expired > 0) {
    say(`To be taken out, too: ${counted(expired, 'payload')} of others, kept beyond ${term.days} days`);
  }
  if (payloads > 0) say(`To be deleted: ${counted(payloads, 'object')} of the payload bucket`);
  if (queryResults > 0)
    say(`To be deleted: ${counted(queryResults, 'object')} with results of queries, of whomever`);
  for (const line of describeDamage(damaged)) say(line);
  if (failedObjects > 0) {
    say(`Not searched: ${counted(failedObjects, 'object')} under failed=, which Firehose could not deliver.`);
  }
  if (dryRun) {
    say('Nothing has been changed.');
    return isWhole;
  }
  const nothing = rewritten.length + queryResults === 0;
  if (!nothing && !(await agreed('Take it out for good?'))) {
    say('Nothing has been changed.');
    return false;
  }

  const done: Done = { records: 0, expired: 0, objects: 0, payloads: 0, queryResults: 0 };
  await takeOut(operation, search, rewritten, done);
  if (!signal.aborted) done.queryResults = await deleteQueryResults(stack);
  const isDone = isWhole && !signal.aborted;
  const note = await writeNote(stack, persons, { ...done, complete: isDone });
  if (signal.aborted) {
    say(`Interrupted after ${done.objects} of ${counted(rewritten.length, 'object')}. Noted: ${note}.`);
    say('What is done stays done. Repeat the command to go on.');
    return false;
  }
  if (!nothing) say(`Done: ${counted(done.records + done.expired, 'record')} without a payload now.`);
  say(`Noted, without the ids: ${note} in the bucket of the archive.`);
  for (const line of await whatIsLeft(stack)) say(line);
  return isDone;
}

/** What stands where `forget` does not reach. */
async function whatIsLeft(stack: Stage): Promise<string[]> {
  const late = (await lateness(stack)) ?? 'some seconds';
  return [
    `Firehose may hold records of the last minutes: repeat the command in ${late}.`,
    'Not touched: tables, queues with their dead letters, quarantine and unrouted events, what was exported.',
    'Nor SQL that names them: Athena keeps the history of queries for 45 days, and saved ones until you delete them.',
  ];
}

/** Why a line is to lose what the partner sent. */
type Reason = 'named' | 'expired';

/**
 * Finds who is named, and what is beyond its term. Remembers the former of payloads, which are deleted before their
 * records are rewritten.
 */
class Search {
  readonly #stack: Stage;
  readonly #persons: readonly Person[];
  readonly #term: Term | undefined;
  /** By key, once looked up. */
  readonly #payloads = new Map<string, Promise<Mention | undefined>>();
  /** Records found that are no usable events. */
  asText = 0;

  constructor(stack: Stage, persons: readonly Person[], term: Term | undefined) {
    this.#stack = stack;
    this.#persons = persons;
    this.#term = term;
  }

  async object(key: string, signal: AbortSignal): Promise<Found> {
    const payloadKeys = new Set<string>();
    let records = 0;
    let asText = 0;
    let expired = 0;
    let isOverdue = false;
    for await (const line of objectLines(this.#stack, key, signal)) {
      const record = parseHeld(line);
      const mention = await this.#mention(line, record);
      if (mention !== undefined) {
        records += 1;
        if (mention === 'text') asText += 1;
        if (record?.payloadKey !== undefined) payloadKeys.add(record.payloadKey);
      } else if (record !== undefined && this.#term?.isOver(record)) {
        expired += 1;
        isOverdue ||= this.#term.isLongOver(record);
      }
    }
    // Not before its end: an object that is damaged further on stays as it is.
    this.asText += asText;
    return { key, records, payloadKeys, expired, isOverdue };
  }

  /** @returns undefined for a line that stays as it is */
  async reason(line: Buffer): Promise<Reason | undefined> {
    const record = parseHeld(line);
    if ((await this.#mention(line, record)) !== undefined) return 'named';
    return record !== undefined && this.#term?.isOver(record) ? 'expired' : undefined;
  }

  async #mention(line: Buffer, record: Held | undefined): Promise<Mention | undefined> {
    if (record === undefined) return mentionInText(line.toString(), this.#persons);
    const { body, payloadKey } = record;
    if (payloadKey !== undefined) return this.#payload(payloadKey);
    return body === undefined ? undefined : mentionIn(body, this.#persons);
  }

  #payload(key: string): Promise<Mention | undefined> {
    const known = this.#payloads.get(key) ?? this.#look(key);
    this.#payloads.set(key, known);
    return known;
  }

  async #look(key: string): Promise<Mention | undefined> {
    const payload = await storedPayload(this.#stack, key);
    return payload && mentionIn(payload.toString(), this.#persons);
  }
}

/** Object by object. What is in the payload bucket goes first: nothing would lead to it from a record without its key. */
async function takeOut(
  { stack, signal }: Operation,
  search: Search,
  found: readonly Found[],
  done: Done,
): Promise<void> {
  const progress = lateProgress();
  const forgottenAt = new Date().toISOString();
  const deleted = new Set<string>();
  try {
    for (const { key, payloadKeys } of found) {
      if (signal.aborted) return;
      for (const payloadKey of payloadKeys) {
        if (deleted.has(payloadKey)) continue;
        await stack.s3.send(new DeleteObjectCommand({ Bucket: payloadBucket(stack), Key: payloadKey }));
        deleted.add(payloadKey);
        done.payloads += 1;
      }
      const changed = await rewriteObject<Reason>(stack, key, async (line) => {
        const reason = await search.reason(line);
        return reason === undefined ? { line } : { line: forgotten(line, forgottenAt), reason };
      });
      done.records += changed.get('named') ?? 0;
      done.expired += changed.get('expired') ?? 0;
      done.objects += 1;
      progress.show({ doing: 'Rewriting', done: done.objects, total: found.length, unit: 'objects' });
    }
  } finally {
    progress.end();
  }
}

/** The line without what the partner sent. Of one that is no record nothing else is left. */
function forgotten(line: Buffer, forgottenAt: string): Buffer {
  const { body, payloadKey, ...rest } = parseHeld(line) ?? {};
  const end = line.at(-1) === 0x0a ? '\n' : '';
  return Buffer.from(`${JSON.stringify({ ...rest, forgottenAt })}${end}`);
}

async function deleteQueryResults(stack: Stage): Promise<number> {
  const Bucket = archiveBucket(stack);
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
  for await (const { key } of listed(stack, QUERIES_PREFIX)) {
    page.push({ Key: key });
    if (page.length === MOST_DELETED) await deletePage();
  }
  await deletePage();
  return count;
}

/** @returns the note's key */
async function writeNote(
  stack: Stage,
  persons: readonly Person[],
  done: Done & { readonly complete: boolean },
): Promise<string> {
  const at = new Date().toISOString();
  const key = `forgotten/${at}-${randomUUID().slice(0, 8)}.json`;
  const note = {
    at,
    by: await caller(stack),
    persons: persons.map(({ kind, id }) => ({ kind, idSha256: sha256Hex(id) })),
    ...done,
  };
  await stack.s3.send(
    new PutObjectCommand({
      Bucket: archiveBucket(stack),
      Key: key,
      Body: `${JSON.stringify(note, undefined, 2)}\n`,
      ContentType: 'application/json',
    }),
  );
  return key;
}

const counted = (count: number, unit: string) =>
  `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
