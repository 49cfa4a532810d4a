import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { NoSuchKey, PutObjectCommand, S3ServiceException } from '@aws-sdk/client-s3';
import * as v from 'valibot';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import { CommandError } from '../../terminal/command-error.ts';
import type { Operation } from '../operation.ts';
import type { Stage } from '../stage.ts';
import { downloadObject, linesOf, parseLine } from './archive-object.ts';
import { type Mention, mentionIn, mentionInText, type Person } from './person.ts';
import { readArchive } from './read-archive.ts';

const DAY = 24 * 60 * 60 * 1000;

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
export function redactor(
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

/** Numbers of lines by what the command says of them. */
export const countReasons = (reasons: readonly Reason[]) => ({
  named: reasons.filter(isNamed).length,
  inText: reasons.filter((reason) => reason === 'text').length,
  expired: reasons.filter((reason) => !isNamed(reason)).length,
});

/** Finds the objects to rewrite, with the reason for each line. Leaves out damaged objects. */
export async function searchRecords({ stack, signal, progress }: Operation, redact: Redact) {
  const found: { readonly key: string; readonly reasons: readonly Reason[] }[] = [];
  const reading = readArchive(stack, { events: 'every', signal, progress, doing: 'Searching' });
  for await (const { key, lines, damage } of reading) {
    const reasons = lines.flatMap((line) => redact(line)?.reason ?? []);
    const isToRewrite = reasons.some((reason) => reason !== 'expired');
    if (isToRewrite && damage === undefined) found.push({ key, reasons });
  }
  return { found, damaged: reading.damaged, total: reading.total };
}

/** Takes payloads out of objects. `expired`: of other people, past their retention. */
export async function rewriteObjects(
  { stack, signal, progress }: Operation,
  found: readonly { readonly key: string }[],
  redact: Redact,
) {
  const done = { objects: 0, records: 0, expired: 0 };
  for (const { key } of found) {
    if (signal.aborted) break;
    const { named, expired } = countReasons(await rewriteObject(stack, key, redact));
    done.objects += 1;
    done.records += named;
    done.expired += expired;
    progress.show({ doing: 'Rewriting', done: done.objects, total: found.length, unit: 'objects' });
  }
  progress.end();
  return done;
}

/**
 * Takes payloads out of an object. All other lines stay identical, and so does the order.
 * @returns the reason for each changed line; none if the object has expired
 * @throws CommandError if the object is damaged. It then stays unchanged
 */
async function rewriteObject(stack: Stage, key: string, redact: Redact): Promise<Reason[]> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const reasons: Reason[] = [];
    const stored = await downloadObject(stack, key);
    const { lines, damage } = await linesOf(key, stored?.bytes);
    if (damage !== undefined) throw new CommandError(damage);
    const rewritten = lines.map((line) => {
      const redacted = redact(line);
      if (redacted !== undefined) reasons.push(redacted.reason);
      return redacted?.line ?? line;
    });
    if (stored === undefined || reasons.length === 0) return reasons;
    const { ContentType, ContentEncoding, Metadata, ETag: IfMatch } = stored;
    const object = { Bucket: stack.archiveBucket, Key: key, ContentType, ContentEncoding, Metadata };
    const Body = await promisify(gzip)(Buffer.concat(rewritten));
    try {
      await stack.s3.send(new PutObjectCommand({ ...object, Body, IfMatch }));
      return reasons;
    } catch (error) {
      if (error instanceof NoSuchKey) return [];
      if (!(error instanceof S3ServiceException && CHANGED.has(error.name))) throw error;
    }
  }
  throw new CommandError(`Somebody else keeps changing ${key}: try again later`);
}
