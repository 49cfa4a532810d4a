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
import { CommandError } from '../../terminal/command-error.ts';
import type { Stage } from '../stage.ts';
import { objectLines } from './lines.ts';
import { archiveBucket } from './objects.ts';

/** Times that a rewriting begins anew because somebody else has written the object meanwhile. */
const ATTEMPTS = 3;

/** Codes of S3 for an object that is not, or is just ceasing to be, what was read. */
const CHANGED = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);

/** A line as it is to be, and what for, where it is another one now. */
export interface Change<Reason extends string> {
  readonly line: Buffer;
  readonly reason?: Reason;
}

/**
 * Puts an object's lines back under its key with some of them changed: the others byte for byte, and all in their
 * order, so that whoever reads it meanwhile finds their place again. Holds the compressed object, which Firehose ends
 * at 64 MB before compression.
 * @param change returns the line as it is without a reason, or another one with one
 * @returns how many lines are other ones now, by reason; none where the object has expired
 * @throws DamagedObjectError and leaves the object as it is
 */
export async function rewriteObject<Reason extends string>(
  stack: Stage,
  key: string,
  change: (line: Buffer) => Promise<Change<Reason>>,
): Promise<ReadonlyMap<Reason, number>> {
  const object = { Bucket: archiveBucket(stack), Key: key };
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
      if (attempt === ATTEMPTS) throw new CommandError(`Somebody else keeps writing ${key}: try again later`);
    }
  }
}

async function rewritten<Reason extends string>(
  stack: Stage,
  key: string,
  change: (line: Buffer) => Promise<Change<Reason>>,
) {
  const changed = new Map<Reason, number>();
  async function* lines() {
    // Without a signal: what ends early would be put back cut off.
    for await (const before of objectLines(stack, key)) {
      const { line, reason } = await change(before);
      if (reason !== undefined) changed.set(reason, (changed.get(reason) ?? 0) + 1);
      yield line;
    }
  }
  const gzip = createGzip();
  const [body] = await Promise.all([buffer(gzip), pipeline(Readable.from(lines()), gzip)]);
  return { body, changed };
}
