import { setTimeout as sleep } from 'node:timers/promises';
import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import { DamagedObjectError } from '../stage/archive/lines.ts';
import { type ArchivedObject, archiveObjects } from '../stage/archive/objects.ts';
import { readObject } from '../stage/archive/records.ts';
import type { Stage } from '../stage/stage.ts';

/** Milliseconds between two looks at which objects there are: Firehose writes one in some minutes. */
const INTERVAL = 60_000;

/**
 * What one look reads at most, from the newest object on: what is older is left to the next look, or to a search. Each
 * object is a call, and its bytes, as they are stored, come over the network.
 */
const OBJECTS = 200;
const BYTES = 64 * 1024 * 1024;

/** Objects that are read at a time: each is a call to S3 that mostly waits. */
const AT_A_TIME = 8;

export interface FeedOptions {
  /** Nothing that was settled earlier. */
  readonly since: Date;
  readonly signal: AbortSignal;
  /** @param object that has the record */
  readonly onRecord: (record: ArchiveRecord, object: ArchivedObject) => void;
  /** Told after each look: why it failed, or undefined. */
  readonly onLook: (error: unknown) => void;
}

/** Reads what is in a stage's archive of the last hours, and what comes, until the signal is aborted. */
export async function feedFromArchive(stack: Stage, options: FeedOptions): Promise<void> {
  const { since, signal, onRecord, onLook } = options;
  const read = new Set<string>();
  while (!signal.aborted) {
    try {
      await look();
      onLook(undefined);
    } catch (error) {
      if (!signal.aborted) onLook(error);
    }
    await sleep(INTERVAL, undefined, { signal }).catch(() => {});
  }

  async function look(): Promise<void> {
    const fresh = (await newestFirst(stack, { since })).filter(({ key }) => !read.has(key));
    await readSome(fresh, { objects: OBJECTS, bytes: BYTES }, signal, readAll);
  }

  async function readAll(object: ArchivedObject): Promise<void> {
    try {
      for await (const { record } of readObject(stack, object, signal)) {
        if (Date.parse(record.settledAt) >= since.getTime()) onRecord(record, object);
      }
    } catch (error) {
      // What can be read of it has been; `npm run archive` tells of damage.
      if (!(error instanceof DamagedObjectError)) throw error;
    }
    if (!signal.aborted) read.add(object.key);
  }
}

/** The objects that may hold records of a window, whichever their event, the newest hour first. */
export async function newestFirst(
  stack: Stage,
  window: { readonly since?: Date; readonly until?: Date },
): Promise<ArchivedObject[]> {
  const objects: ArchivedObject[] = [];
  for await (const object of archiveObjects(stack, window)) objects.push(object);
  return objects.sort((a, b) => hourOf(b.key).localeCompare(hourOf(a.key)));
}

/** Reads the first of some objects, several at a time, until a limit or the signal ends it. */
export async function readSome(
  objects: readonly ArchivedObject[],
  limits: { readonly objects: number; readonly bytes: number },
  signal: AbortSignal,
  read: (object: ArchivedObject) => Promise<void>,
): Promise<void> {
  let bytes = 0;
  const chosen = objects.slice(0, limits.objects).filter((object) => {
    bytes += object.bytes;
    return bytes <= limits.bytes;
  });
  const worker = async () => {
    for (let object = chosen.shift(); object && !signal.aborted; object = chosen.shift()) await read(object);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

/** `/date=2026-01-31/hour=09/…`, by which objects are in order of time. */
const hourOf = (key: string) => key.slice(key.indexOf('/date='));
