import { createGunzip } from 'node:zlib';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import * as v from 'valibot';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import { jsonOf } from '../history/json.ts';
import type { Stage } from '../stage.ts';

/** Attempts to download an object. The SDK retries a failed call, but not a download whose connection was lost. */
const DOWNLOADS = 3;

const LINE_FEED = 0x0a;

/** An open archive object. Its lines or its records can be read once. */
export class ArchiveObject {
  readonly key: string;
  /** Size as stored, compressed. */
  readonly bytes: number;
  /** Why the rest of the object cannot be read. Set when reading reaches the damage. */
  damage: DamagedObjectError | undefined;
  /** Whether the object was read to its end or to its damage, without an interruption. */
  isRead = false;
  count = 0;
  readonly #signal: AbortSignal;
  /** The download begins at once, so that S3 answers while an earlier object is still being read. */
  readonly #stored: ReturnType<typeof downloadObject>;

  constructor(stage: Stage, { key, bytes }: Pick<ArchiveObject, 'key' | 'bytes'>, signal: AbortSignal) {
    this.key = key;
    this.bytes = bytes;
    this.#signal = signal;
    this.#stored = downloadObject(stage, key, signal);
    // The reader of the object gets this error. Without a reader, it must not become an unhandled rejection.
    this.#stored.catch(() => {});
  }

  /** The lines as stored, each with its line feed. Ends early if the signal is aborted. */
  async *lines(): AsyncGenerator<Buffer> {
    const stored = await this.#stored;
    try {
      if (stored !== undefined) {
        for await (const line of objectLines(this.key, stored.bytes)) {
          yield line;
          if (this.#signal.aborted) break;
        }
      }
    } catch (error) {
      if (!(error instanceof DamagedObjectError)) throw error;
      this.damage = error;
    }
    this.isRead = !this.#signal.aborted;
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

/** Accepts unknown fields, which a later version may have added. */
const parsedRecord = v.looseObject(recordSchema.entries);

/** @returns undefined if the line is not JSON, or does not match the schema */
export function parseLine<Schema extends v.GenericSchema>(
  schema: Schema,
  line: Buffer,
): v.InferOutput<Schema> | undefined {
  const { success, output } = v.safeParse(schema, jsonOf(line.toString()));
  return success ? output : undefined;
}

/**
 * An object as S3 stores it, compressed: Firehose ends an object at 64 MB before compression.
 * @returns undefined if it has expired, or the signal is aborted
 */
export async function downloadObject(stack: Stage, key: string, signal?: AbortSignal) {
  const command = new GetObjectCommand({ Bucket: stack.archiveBucket, Key: key });
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { Body, ...about } = await stack.s3.send(command, signal && { abortSignal: signal });
      return { ...about, bytes: (await Body?.transformToByteArray()) ?? new Uint8Array() };
    } catch (error) {
      if (signal?.aborted || error instanceof NoSuchKey) return undefined;
      const isOfCall = Object.hasOwn(error as object, '$metadata');
      if (isOfCall || attempt === DOWNLOADS) throw error;
    }
  }
}

/**
 * The lines of a compressed object, each with its line feed.
 * @throws DamagedObjectError after the last readable line
 */
export async function* objectLines(key: string, compressed: Uint8Array): AsyncGenerator<Buffer> {
  let line = 1;
  try {
    for await (const bytes of cutIntoLines(createGunzip().end(compressed))) {
      yield bytes;
      line += 1;
    }
  } catch (error) {
    throw new DamagedObjectError(key, line, `${faultOf(error)} from line ${line} on`);
  }
}

const faultOf = (error: unknown) =>
  (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR' ? 'cut off' : 'not gzip, or damaged';

async function* cutIntoLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end + 1)]);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
