import { createGunzip } from 'node:zlib';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import * as v from 'valibot';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import { jsonOf } from '../json.ts';
import { matchesPayload, type PayloadFilter } from '../payload-filter.ts';
import { storedPayload } from '../queues/received-message.ts';
import type { Stage } from '../stage.ts';
import { matches, type RecordFilter } from './record-filter.ts';

/** Attempts to download an object. The SDK retries a failed call, but not a download whose connection was lost. */
const DOWNLOADS = 3;

const LINE_FEED = 0x0a;

/** An archive object in memory: Firehose ends an object at 64 MB before compression. */
export class ArchiveObject {
  readonly key: string;
  /** As stored, each with its line feed. None if the object has expired. */
  readonly lines: readonly Buffer[];
  /** What cannot be read, without any content. A line that is not a record is known after {@link records}. */
  damage: string | undefined;
  /** Number of records that were read. */
  count = 0;
  readonly #signal: AbortSignal | undefined;

  /** @param signal ends the records early */
  constructor(key: string, { lines, damage }: Awaited<ReturnType<typeof linesOf>>, signal?: AbortSignal) {
    this.key = key;
    this.lines = lines;
    this.damage = damage;
    this.#signal = signal;
  }

  /** Skips lines that are not records. */
  *records(): Generator<ArchiveRecord> {
    const damaged: number[] = [];
    for (const [index, bytes] of this.lines.entries()) {
      if (this.#signal?.aborted) return;
      const record = parseLine(parsedRecord, bytes);
      if (record === undefined) damaged.push(index + 1);
      else {
        this.count += 1;
        yield record;
      }
    }
    const [first] = damaged;
    if (first === undefined) return;
    const more = damaged.length === 1 ? '' : `, the first of ${damaged.length}`;
    this.damage ??= `${this.key}: line ${first} is not a record${more}`;
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

/** The records of a reading that match a filter. */
export async function* matchingRecords(
  stage: Stage,
  reading: AsyncIterable<ArchiveObject>,
  filter: RecordFilter,
): AsyncGenerator<ArchiveRecord> {
  for await (const object of reading) {
    for (const record of object.records()) {
      if (matches(filter, record) && (await containsSearched(stage, filter, record))) yield record;
    }
  }
}

/** Whether a record's payload has the text that a filter searches. A large one is read from the payload bucket. */
async function containsSearched(
  stage: Stage,
  { search }: PayloadFilter,
  { body, payloadKey }: ArchiveRecord,
): Promise<boolean> {
  if (search === undefined) return true;
  const stored = payloadKey === undefined ? undefined : await storedPayload(stage, payloadKey);
  const payload = body === undefined ? stored : Buffer.from(body);
  return payload !== undefined && matchesPayload({ search }, payload);
}

/**
 * An object as S3 stores it, compressed.
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

/** @returns the lines of a compressed object before its damage, if it has some */
export async function linesOf(key: string, compressed: Uint8Array | undefined) {
  const chunks: Buffer[] = [];
  let fault: string | undefined;
  try {
    if (compressed) for await (const chunk of createGunzip().end(compressed)) chunks.push(chunk);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    fault = code === 'Z_BUF_ERROR' ? 'cut off' : 'not gzip, or damaged';
  }
  const text = Buffer.concat(chunks);
  const lines: Buffer[] = [];
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = text.indexOf(LINE_FEED, start) + 1 || text.length;
    lines.push(text.subarray(start, end));
  }
  if (fault === undefined) return { lines };
  const whole = lines.filter((line) => line.at(-1) === LINE_FEED);
  return { lines: whole, damage: `${key}: ${fault} from line ${whole.length + 1} on` };
}
