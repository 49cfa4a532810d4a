import { addAbortSignal, pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import * as z from 'zod/mini';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import { MAX_RECORD_BYTES } from '../../../lambda/limits.ts';
import type { Stage } from '../stage.ts';

/**
 * Attempts to open a body that yield no further line before giving up. S3 closes a connection that nobody reads from.
 */
const FRUITLESS_ATTEMPTS = 3;

const LINE_FEED = 0x0a;

/** An archive object that cannot be read, or only partly. The error message contains none of its content. */
export class DamagedObjectError extends Error {
  override readonly name = 'DamagedObjectError';
  readonly key: string;
  /** Number of the first line that is not a record, from 1. */
  readonly line: number;

  constructor(key: string, line: number, fault: string) {
    super(`${key}: ${fault}`);
    this.key = key;
    this.line = line;
  }
}

/** An open archive object. Its lines or its records can be read once. */
export class ArchiveObject {
  readonly key: string;
  /** Compressed size. */
  readonly bytes: number;
  /** Known only after the lines before the damage have been read. */
  damage: DamagedObjectError | undefined;
  /** Whether it has been read to its end or to its damage. */
  isRead = false;
  /** Number of records read so far. */
  count = 0;
  readonly #lines: AsyncGenerator<Buffer>;
  /** Requested at once, so that S3 answers while an earlier object is still being read. */
  readonly #first: Promise<IteratorResult<Buffer>>;

  constructor(stage: Stage, key: string, bytes: number, signal: AbortSignal) {
    this.key = key;
    this.bytes = bytes;
    this.#lines = objectLines(stage, key, signal);
    this.#first = this.#lines.next();
    // The reader gets this error. If nobody reads, it must not become an unhandled rejection.
    this.#first.catch(() => {});
  }

  /** The lines as stored, each with its line feed. */
  async *lines(): AsyncGenerator<Buffer> {
    try {
      const { done, value } = await this.#first;
      if (!done) {
        yield value;
        yield* this.#lines;
      }
    } catch (error) {
      if (!(error instanceof DamagedObjectError)) throw error;
      this.damage = error;
    } finally {
      // Closes the connection if the reader stops at the first line.
      await this.#lines.return(undefined);
    }
    this.isRead = true;
  }

  /** The records, each with its line number from 1. Skips lines that are not records. */
  async *records(): AsyncGenerator<{ line: number; record: ArchiveRecord }> {
    let line = 0;
    let firstDamaged: number | undefined;
    for await (const bytes of this.lines()) {
      line += 1;
      const record = parseLine(parsedRecord, bytes);
      if (record === undefined) {
        firstDamaged ??= line;
        continue;
      }
      this.count += 1;
      yield { line, record };
    }
    if (firstDamaged === undefined) return;
    const more = line - this.count === 1 ? '' : `, the first of ${line - this.count}`;
    this.damage ??= new DamagedObjectError(
      this.key,
      firstDamaged,
      `line ${firstDamaged} is not a record${more}`,
    );
  }
}

/** Accepts unknown fields, which a later version may have added. */
const parsedRecord = z.looseObject(recordSchema.shape);

/** Parses a line of JSON by a schema. Returns undefined if it does not match. */
export function parseLine<Schema extends z.ZodMiniType>(
  schema: Schema,
  line: Buffer,
): z.infer<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(line.toString())).data;
  } catch {
    return undefined;
  }
}

/**
 * The lines of an object as stored, each with its line feed. Holds only a few lines in memory. If the connection is
 * lost, it continues after the last line: the order of an object's lines never changes. An object that has expired
 * since it was listed yields nothing. Ends early if the signal is aborted; the caller must check the signal.
 * @throws DamagedObjectError after the last readable line
 */
export async function* objectLines(stack: Stage, key: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  let delivered = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      let line = 0;
      for await (const bytes of cutIntoLines(await opened(stack, key, signal))) {
        line += 1;
        if (line <= delivered) continue;
        delivered = line;
        attempt = 0;
        yield bytes;
        if (signal?.aborted) return;
      }
      return;
    } catch (error) {
      if (signal?.aborted || error instanceof NoSuchKey) return;
      const fault = faultOf(error);
      if (fault !== undefined) {
        throw new DamagedObjectError(key, delivered + 1, `${fault} from line ${delivered + 1} on`);
      }
      // The SDK has already retried errors of the call.
      const isOfCall = Object.hasOwn(error as object, '$metadata');
      if (isOfCall || attempt >= FRUITLESS_ATTEMPTS) throw error;
    }
  }
}

/** A line is longer than any record can be. */
class EndlessLineError extends Error {}

/** Describes the damage. Returns undefined if the connection failed instead. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof EndlessLineError) return 'no lines of records';
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return 'cut off';
  return code?.startsWith('Z_') ? 'not gzip, or damaged' : undefined;
}

async function opened(stack: Stage, key: string, signal: AbortSignal | undefined): Promise<Readable> {
  const { Body } = await stack.s3.send(
    new GetObjectCommand({ Bucket: stack.archiveBucket, Key: key }),
    signal && { abortSignal: signal },
  );
  const text = createGunzip();
  // Errors of either stream reach the reader of the lines. If the reader stops, both streams end.
  if (Body instanceof Readable) pipeline(Body, text, () => {});
  return signal === undefined ? text : addAbortSignal(signal, text);
}

/** @throws EndlessLineError */
async function* cutIntoLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end + 1)]);
      parts = [];
      length = 0;
      start = end + 1;
    }
    length += chunk.length - start;
    if (length > MAX_RECORD_BYTES) throw new EndlessLineError();
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
