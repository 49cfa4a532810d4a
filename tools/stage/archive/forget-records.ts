import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { NoSuchKey, PutObjectCommand, S3ServiceException } from '@aws-sdk/client-s3';
import * as v from 'valibot';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { counted } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { downloadObject, linesOf, parseLine } from './archive-object.ts';
import { type Mention, mentionIn, mentionInText, type Person, type PlaceOfPerson } from './person.ts';
import { archiveDays, countFailedObjects, DAY, dateIn, describeDamage, readArchive } from './read-archive.ts';

/**
 * Days that an object may outlive the retention of its records if nobody rewrites it: Firehose retries for one day, and
 * S3 expires objects at the following midnight. Sources: Firehose developer guide, "Handle data delivery failures"; S3
 * user guide, "Lifecycle rules".
 */
const LATEST_EXPIRY_DAYS = 2;

/** Attempts to rewrite an object that another process changes at the same time. */
const ATTEMPTS = 3;

/** S3 error codes for an object that has changed since it was read, or is being changed. */
const CHANGED = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);

/**
 * The fields of a record that `forget` needs, and no others, so that the command also works for events that are no
 * longer in the catalogue.
 */
const redactableSchema = v.looseObject(v.pick(recordSchema, ['settledAt', 'body', 'payloadKey']).entries);

type RedactableRecord = v.InferOutput<typeof redactableSchema>;

/**
 * Why a line loses its payload. `expired`: it is older than the archive keeps records. S3 counts the retention from the
 * last write, so rewriting an object would keep it for another term. `overdue`: S3 should have deleted the whole object,
 * but somebody has rewritten it.
 */
type Reason = Mention | 'expired' | 'overdue';

type Redact = (line: Buffer) => { readonly line: Buffer; readonly reason: Reason } | undefined;

/**
 * Makes a function that takes the payload out of a line if it names a person or is too old. It returns undefined if the
 * line stays unchanged.
 * @param payloads keys of payloads in the payload bucket that name one of the persons
 * @param days for which the archive keeps a payload. If unknown, no payload is too old
 */
function redactor(
  persons: readonly Person[],
  payloads: ReadonlySet<string>,
  days = Number.POSITIVE_INFINITY,
): Redact {
  const now = Date.now();
  const forgottenAt = new Date(now).toISOString();
  const reasonOf = (record: RedactableRecord): Reason | undefined => {
    if (record.payloadKey !== undefined && payloads.has(record.payloadKey)) return 'field';
    if (record.body === undefined) return undefined;
    const age = (now - Date.parse(record.settledAt)) / DAY;
    const aged = age > days + LATEST_EXPIRY_DAYS ? 'overdue' : 'expired';
    return mentionIn(record.body, persons) ?? (age > days ? aged : undefined);
  };
  return (line) => {
    const record = parseLine(redactableSchema, line);
    const reason = record === undefined ? mentionInText(line.toString(), persons) : reasonOf(record);
    if (reason === undefined) return undefined;
    // If the line is not a record, only `forgottenAt` is left.
    const { body, payloadKey, ...rest } = record ?? {};
    const end = line.at(-1) === 0x0a ? '\n' : '';
    return { line: Buffer.from(`${JSON.stringify({ ...rest, forgottenAt })}${end}`), reason };
  };
}

const isNamed = (reason: Reason) => reason === 'field' || reason === 'text';

/** The records that name a person, and the expired ones in the same objects. */
export async function findPersonalRecords(
  operation: Operation,
  persons: readonly Person[],
  payloads: ReadonlySet<string>,
): Promise<PlaceOfPerson> {
  const { stack, signal, progress } = operation;
  const days = await archiveDays(stack);
  const redact = redactor(persons, payloads, days);
  const { found, damaged } = await searchObjects(operation, redact);
  const failed = await countFailedObjects(stack, { events: 'every' });
  const all = found.flatMap(({ reasons }) => reasons);
  const named = all.filter(isNamed).length;
  const inText = all.filter((reason) => reason === 'text').length;
  const expired = all.length - named;
  const objects = found.filter(({ reasons }) => reasons.some(isNamed)).length;
  const expiry = days === undefined ? 'Their expiry is unknown' : `S3 deletes them by ${dateIn(days + 1)}`;
  const bucket = `s3://${stack.archiveBucket}`;
  return {
    found: [
      named > 0 && `To remove: the payloads of ${counted(named, 'record')} in ${counted(objects, 'object')}`,
      inText > 0 && `  ${inText} of them are not events that we know, but have the id in their text`,
      expired > 0 && `To remove: ${counted(expired, 'payload')} of others, older than ${days} days`,
    ].filter((line) => line !== false),
    unsearched: [
      ...describeDamage(damaged),
      damaged.length > 0 && `${expiry}. To delete one now: aws s3 rm ${bucket}/KEY`,
      failed > 0 &&
        `Not searched: ${counted(failed, 'object')} under failed=, which Firehose could not deliver. ${expiry}. To delete them now: aws s3 rm ${bucket}/ --recursive --exclude '*' --include 'event=*/failed=*'`,
    ].filter((line) => line !== false),
    left: days === undefined ? ['The retention of payloads is unknown, so expired ones of others stay.'] : [],
    async remove() {
      for (const [index, { key }] of found.entries()) {
        if (signal.aborted) break;
        await rewriteObject(stack, key, redact);
        progress.show({ doing: 'Rewriting', done: index + 1, total: found.length, unit: 'objects' });
      }
      progress.end();
      return [];
    },
  };
}

/** Finds the objects to rewrite, with the reason for each line. Leaves out damaged objects. */
async function searchObjects({ stack, signal, progress }: Operation, redact: Redact) {
  const found: { readonly key: string; readonly reasons: readonly Reason[] }[] = [];
  const reading = readArchive(stack, { events: 'every', signal, progress, doing: 'Searching' });
  for await (const { key, lines, damage } of reading) {
    const reasons = lines.flatMap((line) => redact(line)?.reason ?? []);
    const isToRewrite = reasons.some((reason) => reason !== 'expired');
    if (isToRewrite && damage === undefined) found.push({ key, reasons });
  }
  return { found, damaged: reading.damaged };
}

/**
 * Takes payloads out of an object. All other lines stay identical, and so does the order.
 * @throws CommandError if the object is damaged. It then stays unchanged
 */
async function rewriteObject(stack: Stage, key: string, redact: Redact): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const stored = await downloadObject(stack, key);
    const { lines, damage } = await linesOf(key, stored?.bytes);
    if (damage !== undefined) throw new CommandError(damage);
    const rewritten = lines.map((line) => redact(line)?.line ?? line);
    const isChanged = rewritten.some((line, index) => line !== lines[index]);
    if (stored === undefined || !isChanged) return;
    const { ContentType, ContentEncoding, Metadata, ETag: IfMatch } = stored;
    const object = { Bucket: stack.archiveBucket, Key: key, ContentType, ContentEncoding, Metadata };
    const Body = await promisify(gzip)(Buffer.concat(rewritten));
    try {
      await stack.s3.send(new PutObjectCommand({ ...object, Body, IfMatch }));
      return;
    } catch (error) {
      if (error instanceof NoSuchKey) return;
      if (!(error instanceof S3ServiceException && CHANGED.has(error.name))) throw error;
    }
  }
  throw new CommandError(`Somebody else keeps changing ${key}: try again later`);
}
