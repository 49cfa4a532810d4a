import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { CommandError } from '../../cli/terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import { objectLines } from './object.ts';

/** Attempts to rewrite an object that another process changes at the same time. */
const ATTEMPTS = 3;

/** S3 error codes for an object that has changed since it was read, or is being changed. */
const CHANGED = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);

/** Returns the new line and the reason, or undefined to keep the line. */
type Change<Reason> = (
  line: Buffer,
) => Promise<{ readonly line: Buffer; readonly reason: Reason } | undefined>;

/**
 * Replaces some lines of an object. All other lines stay identical, and the order never changes, so that a concurrent
 * reader can continue at its position. Holds the compressed object in memory: Firehose ends an object at 64 MB before
 * compression.
 * @returns the number of changed lines by reason; empty if the object has expired
 * @throws DamagedObjectError and leaves the object unchanged
 */
export async function rewriteObject<Reason extends string>(
  stack: Stage,
  key: string,
  change: Change<Reason>,
): Promise<ReadonlyMap<Reason, number>> {
  const object = { Bucket: stack.archiveBucket, Key: key };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const before = await stack.s3.send(new HeadObjectCommand(object));
      const { body, changed } = await rewritten(stack, key, change);
      if (changed.size === 0) return changed;
      const { ContentType, ContentEncoding, Metadata, ETag } = before;
      await stack.s3.send(
        new PutObjectCommand({
          ...object,
          Body: body,
          ContentType,
          ContentEncoding,
          Metadata,
          IfMatch: ETag,
        }),
      );
      return changed;
    } catch (error) {
      if (error instanceof NotFound || error instanceof NoSuchKey) return new Map();
      if (!(error instanceof S3ServiceException && CHANGED.has(error.name))) throw error;
      if (attempt === ATTEMPTS)
        throw new CommandError(`Somebody else keeps changing ${key}: try again later`);
    }
  }
}

async function rewritten<Reason extends string>(stack: Stage, key: string, change: Change<Reason>) {
  const changed = new Map<Reason, number>();
  async function* lines() {
    // No signal here: an early end would truncate the object.
    for await (const before of objectLines(stack, key)) {
      const after = await change(before);
      if (after !== undefined) changed.set(after.reason, (changed.get(after.reason) ?? 0) + 1);
      yield after?.line ?? before;
    }
  }
  const gzip = createGzip();
  const [body] = await Promise.all([buffer(gzip), pipeline(Readable.from(lines()), gzip)]);
  return { body, changed };
}
