import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { NoSuchKey, PutObjectCommand, S3ServiceException } from '@aws-sdk/client-s3';
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import { downloadObject, objectLines } from './archive-object.ts';

/** Attempts to rewrite an object that another process changes at the same time. */
const ATTEMPTS = 3;

/** S3 error codes for an object that has changed since it was read, or is being changed. */
const CHANGED = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);

/** Returns the new line and the reason for the change. Undefined leaves the line unchanged. */
type Change<Reason> = (
  line: Buffer,
) => Promise<{ readonly line: Buffer; readonly reason: Reason } | undefined>;

/**
 * Replaces some lines of an object. All other lines stay identical, and so does the order.
 * @returns the number of changed lines by reason; empty if the object has expired
 * @throws DamagedObjectError if the object is damaged. It then stays unchanged
 */
export async function rewriteObject<Reason extends string>(
  stack: Stage,
  key: string,
  change: Change<Reason>,
): Promise<ReadonlyMap<Reason, number>> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const stored = await downloadObject(stack, key);
    if (stored === undefined) return new Map();
    const { body, changed } = await rewritten(objectLines(key, stored.bytes), change);
    if (changed.size === 0) return changed;
    const { ContentType, ContentEncoding, Metadata, ETag: IfMatch } = stored;
    const object = { Bucket: stack.archiveBucket, Key: key, Body: body };
    try {
      await stack.s3.send(
        new PutObjectCommand({ ...object, ContentType, ContentEncoding, Metadata, IfMatch }),
      );
      return changed;
    } catch (error) {
      if (error instanceof NoSuchKey) return new Map();
      if (!(error instanceof S3ServiceException && CHANGED.has(error.name))) throw error;
    }
  }
  throw new CommandError(`Somebody else keeps changing ${key}: try again later`);
}

async function rewritten<Reason extends string>(before: AsyncIterable<Buffer>, change: Change<Reason>) {
  const changed = new Map<Reason, number>();
  async function* lines() {
    for await (const line of before) {
      const after = await change(line);
      if (after !== undefined) changed.set(after.reason, (changed.get(after.reason) ?? 0) + 1);
      yield after?.line ?? line;
    }
  }
  const gzip = createGzip();
  const [body] = await Promise.all([buffer(gzip), pipeline(Readable.from(lines()), gzip)]);
  return { body, changed };
}
