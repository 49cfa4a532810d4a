import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import * as z from 'zod/mini';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { recordSchema } from '../../../lambda/archive/record-schema.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import type { Stage } from '../stage.ts';
import { DamagedObjectError, objectLines } from './lines.ts';
import { type ArchiveWindow, listArchive, type StoredObject } from './objects.ts';

/** Objects that are open at a time by default. Most of the time that an object takes is the wait for S3. */
const PARALLEL = 8;

interface ReadOptions extends ArchiveWindow {
  /** By event and then by time, or the newest hour first for all events together. @default 'by-event' */
  readonly order?: 'by-event' | 'newest-first';
  /** Objects that are open at a time. They are still read in order, one after the other. @default 8 */
  readonly parallel?: number;
  /** The most to read. Bytes are counted as they are stored. @default no limit */
  readonly limits?: { readonly objects: number; readonly bytes: number };
  /** Whether an object is left out. It counts nowhere. */
  readonly skip?: (key: string) => boolean;
  /** Ends the reading early, without an error. */
  readonly signal?: AbortSignal;
  /** Shows how many objects have been read, and of how many. @default nowhere */
  readonly progress?: ProgressDisplay;
  /** What the progress says. @default 'Reading' */
  readonly doing?: string;
}

/**
 * Reads the archive, object by object. Memory stays flat, except that `newest-first` holds the list of objects.
 * A damaged object ends its own records only: see `damaged` and the object's `damage`. An object that has expired since it
 * was listed has no records.
 * @throws CommandError if the stage has no archive
 */
export const readArchive = (stage: Stage, options: ReadOptions = {}) => new ArchiveReading(stage, options);

export class ArchiveReading {
  /** Objects that have been read to their end or their damage, and their bytes as they are stored. */
  objects = 0;
  bytes = 0;
  /** Records of these objects. */
  records = 0;
  /** Objects to read: known with `progress` or `newest-first`. */
  total = 0;
  readonly damaged: DamagedObjectError[] = [];
  /** The first object in order that a limit or the signal left unread. */
  unread: StoredObject | undefined;
  readonly #stage: Stage;
  readonly #options: ReadOptions;

  constructor(stage: Stage, options: ReadOptions) {
    this.#stage = stage;
    this.#options = options;
  }

  /** Yields each object. Read its lines or records before you ask for the next one. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ArchiveObject> {
    const { parallel = PARALLEL, limits, signal, progress } = this.#options;
    const ended = new AbortController();
    const untilEnd = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
    const open: ArchiveObject[] = [];
    let [objects, bytes] = [0, 0];
    let beyond: StoredObject | undefined;
    try {
      for await (const stored of this.#list()) {
        objects += 1;
        bytes += stored.bytes;
        if (signal?.aborted || (limits && (objects > limits.objects || bytes > limits.bytes))) {
          beyond = stored;
          break;
        }
        open.push(new ArchiveObject(stored, objectLines(this.#stage, stored.key, untilEnd)));
        if (open.length === parallel) yield* this.#next(open);
      }
      while (open.length > 0) yield* this.#next(open);
      this.unread ??= beyond;
    } finally {
      ended.abort();
      progress?.end();
    }
  }

  async *#next(open: ArchiveObject[]): AsyncGenerator<ArchiveObject> {
    const { signal, progress, doing = 'Reading' } = this.#options;
    const object = open.shift();
    if (object === undefined) return;
    try {
      if (!signal?.aborted) yield object;
    } finally {
      // Also if nobody asks for another object.
      if (object.isRead && !signal?.aborted) {
        this.objects += 1;
        this.bytes += object.bytes;
        this.records += object.count;
        if (object.damage !== undefined) this.damaged.push(object.damage);
        const total = Math.max(this.total, this.objects);
        progress?.show({ doing, done: this.objects, total, unit: 'objects' });
      } else {
        this.unread ??= object;
      }
    }
  }

  async *#list(): AsyncGenerator<StoredObject> {
    const { order, progress } = this.#options;
    if (order === 'newest-first') {
      const all: StoredObject[] = [];
      for await (const object of this.#wanted()) all.push(object);
      all.sort((one, other) => (hourOf(one) < hourOf(other) ? 1 : -1));
      this.total = all.length;
      yield* all;
      return;
    }
    // Counted first, because a list of all keys would grow with the archive.
    if (progress) for await (const _ of this.#wanted()) this.total += 1;
    yield* this.#wanted();
  }

  async *#wanted(): AsyncGenerator<StoredObject> {
    const { skip } = this.#options;
    for await (const object of listArchive(this.#stage, this.#options)) {
      if (!skip?.(object.key)) yield object;
    }
  }
}

/** An object of the archive that is open. Its lines or its records can be read once. */
export class ArchiveObject implements StoredObject {
  readonly key: string;
  readonly bytes: number;
  /** Known once everything before it has been read. */
  damage: DamagedObjectError | undefined;
  /** Whether it has been read to its end or its damage. */
  isRead = false;
  /** Lines or records that have been read. */
  count = 0;
  readonly #lines: AsyncGenerator<Buffer>;
  /** Asked for at once, so that S3 answers while an earlier object is read. */
  readonly #first: Promise<IteratorResult<Buffer>>;

  constructor({ key, bytes }: StoredObject, lines: AsyncGenerator<Buffer>) {
    this.key = key;
    this.bytes = bytes;
    this.#lines = lines;
    this.#first = lines.next();
    // Thrown to the reader, or to nobody if nobody reads it.
    this.#first.catch(() => {});
  }

  /** The lines as they are stored, each with its line feed. */
  lines(): AsyncGenerator<Buffer> {
    return this.#read(this.#stored());
  }

  /** The records, each with the number of its line from 1. */
  records(): AsyncGenerator<{ line: number; record: ArchiveRecord }> {
    return this.#read(recordsIn(this.key, this.#stored()));
  }

  async *#stored(): AsyncGenerator<Buffer> {
    const { done, value } = await this.#first;
    if (done) return;
    yield value;
    yield* this.#lines;
  }

  async *#read<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
    try {
      for await (const item of items) {
        this.count += 1;
        yield item;
      }
    } catch (error) {
      if (!(error instanceof DamagedObjectError)) throw error;
      this.damage = error;
    }
    this.isRead = true;
  }
}

/**
 * The records of one object, as {@link readArchive} gives them.
 * @throws DamagedObjectError behind the last record that can be read
 */
export const readObject = (
  stage: Stage,
  { key }: { readonly key: string },
  signal?: AbortSignal,
): AsyncGenerator<{ line: number; record: ArchiveRecord }> => recordsIn(key, objectLines(stage, key, signal));

/** A line that is no record is left out: the records around it are delivered, and the error comes behind the last one. */
async function* recordsIn(key: string, lines: AsyncIterable<Buffer>) {
  let line = 0;
  let firstDamaged: number | undefined;
  let damaged = 0;
  for await (const bytes of lines) {
    line += 1;
    const record = parseRecord(bytes);
    if (record === undefined) {
      firstDamaged ??= line;
      damaged += 1;
    } else {
      yield { line, record };
    }
  }
  if (firstDamaged === undefined) return;
  const more = damaged === 1 ? '' : `, the first of ${damaged}`;
  throw new DamagedObjectError(key, firstDamaged, `line ${firstDamaged} is no record${more}`);
}

/** Fields that a later version adds pass. */
const parsedRecord = z.looseObject(recordSchema.shape);

function parseRecord(line: Buffer): ArchiveRecord | undefined {
  try {
    return parsedRecord.safeParse(JSON.parse(line.toString())).data;
  } catch {
    return undefined;
  }
}

/** The partner's bytes behind a record's `payloadKey`; undefined if they have expired or were forgotten. */
export async function storedPayload(stack: Stage, key: string): Promise<Buffer | undefined> {
  try {
    const { Body } = await stack.s3.send(new GetObjectCommand({ Bucket: stack.payloadBucket, Key: key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/** `/date=2026-01-31/hour=09/…`: sorts by time for all events. */
const hourOf = ({ key }: StoredObject) => key.slice(key.indexOf('/date='));

/** The damage of a reading, for people. */
export function describeDamage(damaged: readonly Pick<DamagedObjectError, 'message'>[]): string[] {
  if (damaged.length === 0) return [];
  return [
    `${damaged.length === 1 ? '1 object is' : `${damaged.length} objects are`} damaged; what cannot be read was skipped:`,
    ...damaged.map(({ message }) => `  ${message}`),
  ];
}
