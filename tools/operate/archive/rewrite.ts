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
import type { FoundStack } from '../stack.ts';
import { objectLines } from './lines.ts';
import { archiveBucket } from './objects.ts';

/** Times that a rewriting begins anew because somebody else has written the object meanwhile. */
const ATTEMPTS = 3;

/** Codes of S3 for an object that is not, or is just ceasing to be, what was read. */
const CHANGED = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);

/**
 * Puts an object's lines back under its key with some of them changed: the others byte for byte, and all in their
 * order, so that whoever reads it meanwhile finds their place again. Holds the compressed object, which Firehose ends
 * at 64 MB before compression.
 * @param change returns the line as it is, or another one
 * @returns how many lines are other ones now; 0 where the object has expired
 * @throws DamagedObjectError and leaves the object as it is
 */
export async function rewriteObject(
  stack: FoundStack,
  key: string,
  change: (line: Buffer) => Promise<Buffer>,
): Promise<number> {
  const object = { Bucket: archiveBucket(stack), Key: key };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const before = await stack.s3.send(new HeadObjectCommand(object));
      const { body, changed } = await rewritten(stack, key, change);
      if (changed === 0) return 0;
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
      if (error instanceof NotFound || error instanceof NoSuchKey) return 0;
      if (!(error instanceof S3ServiceException && CHANGED.has(error.name))) throw error;
      if (attempt === ATTEMPTS) throw new CommandError(`Somebody else keeps writing ${key}: try again later`);
    }
  }
}

async function rewritten(stack: FoundStack, key: string, change: (line: Buffer) => Promise<Buffer>) {
  let changed = 0;
  async function* lines() {
    // Without a signal: what ends early would be put back cut off.
    for await (const line of objectLines(stack, key)) {
      const changedLine = await change(line);
      if (changedLine !== line) changed += 1;
      yield changedLine;
    }
  }
  const gzip = createGzip();
  const [body] = await Promise.all([buffer(gzip), pipeline(Readable.from(lines()), gzip)]);
  return { body, changed };
}
