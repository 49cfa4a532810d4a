import { addAbortSignal, pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import * as z from 'zod/mini';
import { type ArchiveRecord, MAX_RECORD_BYTES } from '../../../lambda/archive/record.ts';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import type { Stage } from '../stage.ts';

/** Attempts to open a body without a further line. S3 closes a connection that nobody reads from. */
const FRUITLESS_ATTEMPTS = 3;

const LINE_FEED = 0x0a;

/** An object of the archive that cannot be read, or only in part. The message shows no content. */
export class DamagedObjectError extends Error {
  override readonly name = 'DamagedObjectError';
  readonly key: string;
  /** The first line that is no record, from 1. */
  readonly line: number;

  constructor(key: string, line: number, fault: string) {
    super(`${key}: ${fault}`);
    this.key = key;
    this.line = line;
  }
}

/** An object of the archive that is open. Its lines or its records can be read once. */
export class ArchiveObject {
  readonly key: string;
  /** As it is stored. */
  readonly bytes: number;
  /** Known once everything before it has been read. */
  damage: DamagedObjectError | undefined;
  /** Whether it has been read to its end or its damage. */
  isRead = false;
  /** Records that have been read. */
  count = 0;
  readonly #lines: AsyncGenerator<Buffer>;
  /** Asked for at once, so that S3 answers while an earlier object is read. */
  readonly #first: Promise<IteratorResult<Buffer>>;

  constructor(stage: Stage, key: string, bytes: number, signal: AbortSignal) {
    this.key = key;
    this.bytes = bytes;
    this.#lines = objectLines(stage, key, signal);
    this.#first = this.#lines.next();
    // Thrown to the reader, or to nobody if nobody reads it.
    this.#first.catch(() => {});
  }

  /** The lines as they are stored, each with its line feed. */
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
      // Closes the connection of a reader that stops at the first line.
      await this.#lines.return(undefined);
    }
    this.isRead = true;
  }

  /** The records, each with the number of its line from 1. A line that is no record is left out. */
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
      `line ${firstDamaged} is no record${more}`,
    );
  }
}

/** Fields that a later version adds pass. */
const parsedRecord = z.looseObject(recordSchema.shape);

/** A line of JSON as a schema has it; undefined if it is something else. */
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
 * The lines of an object as they are stored, each with its line feed. Holds a few lines at a time. If the connection is lost,
 * it continues behind the last line: an object always keeps its lines in their order. An object that has expired since it
 * was listed has none. Ends early once the signal is aborted: ask it.
 * @throws DamagedObjectError behind the last line that can be read
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
      // The client has already repeated the call.
      const isOfCall = Object.hasOwn(error as object, '$metadata');
      if (isOfCall || attempt >= FRUITLESS_ATTEMPTS) throw error;
    }
  }
}

/** A line longer than any record. */
class EndlessLineError extends Error {}

/** What is wrong with the bytes; undefined if the connection is at fault. */
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
  // An error in either is thrown to the reader of the lines. If the reader stops, both end.
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
