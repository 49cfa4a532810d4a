import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { Progress, type ProgressDisplay } from '../../terminal/progress.ts';
import type { Operation } from '../operation.ts';
import { matches, type RecordFilter } from './filter.ts';
import { DamagedObjectError } from './lines.ts';
import { type ArchivedObject, archiveObjects } from './objects.ts';
import { readObject } from './records.ts';

/** Milliseconds after which it is said how far a command has come. */
const WORTH_SAYING = 1_000;

export interface Scanned {
  /** Objects that were read to their end, or to their damage. */
  readonly objects: number;
  readonly total: number;
  /** As they are stored. */
  readonly bytes: number;
  readonly damaged: readonly DamagedObjectError[];
}

/** Progress that is not shown of what is done in no time. */
export function lateProgress(): ProgressDisplay {
  const begun = performance.now();
  const progress = new Progress();
  return {
    show(step) {
      if (performance.now() - begun > WORTH_SAYING) progress.show(step);
    },
    end: () => progress.end(),
  };
}

/**
 * Does something with each object of a filter's events and window, and says after a while how far it has come.
 * A damaged one is noted, and the others follow. Ends early once the operation's signal is aborted.
 * @param parallel objects at a time; more than one are in no order
 */
export function eachObject(
  operation: Pick<Operation, 'stack' | 'signal' | 'progress'>,
  filter: RecordFilter,
  doing: string,
  parallel: number,
  work: (object: ArchivedObject) => Promise<void>,
): Promise<Scanned> {
  const { stack } = operation;
  return eachListed(operation, () => archiveObjects(stack, filter), doing, parallel, work);
}

/** As {@link eachObject}. @param list lists the objects, twice */
export async function eachListed<Listed extends Pick<ArchivedObject, 'key' | 'bytes'>>(
  { signal, progress = lateProgress() }: Pick<Operation, 'signal' | 'progress'>,
  list: () => AsyncGenerator<Listed>,
  doing: string,
  parallel: number,
  work: (object: Listed) => Promise<void>,
): Promise<Scanned> {
  // Counted first, as a list of all keys would grow with the archive.
  let total = 0;
  for await (const _ of list()) total += 1;
  const damaged: DamagedObjectError[] = [];
  let objects = 0;
  let bytes = 0;
  const queue = list();
  const worker = async () => {
    for await (const object of queue) {
      if (signal.aborted) return;
      try {
        await work(object);
      } catch (error) {
        if (!(error instanceof DamagedObjectError)) throw error;
        damaged.push(error);
      }
      if (signal.aborted) return;
      objects += 1;
      bytes += object.bytes;
      progress.show({ doing, done: objects, total: Math.max(total, objects), unit: 'objects' });
    }
  };
  try {
    await Promise.all(Array.from({ length: parallel }, worker));
  } finally {
    progress.end();
  }
  return { objects, total, bytes, damaged };
}

/** Visits each record that a filter admits. @param parallel as for {@link eachObject} */
export function eachRecord(
  operation: Pick<Operation, 'stack' | 'signal' | 'progress'>,
  filter: RecordFilter,
  parallel: number,
  visit: (record: ArchiveRecord) => void | Promise<void>,
): Promise<Scanned> {
  const { stack, signal } = operation;
  return eachObject(operation, filter, 'Reading', parallel, async (object) => {
    for await (const { record } of readObject(stack, object, signal)) {
      if (matches(filter, record)) await visit(record);
    }
  });
}

/** What was damaged, for people. */
export function describeDamage(damaged: readonly Pick<DamagedObjectError, 'message'>[]): string[] {
  if (damaged.length === 0) return [];
  return [
    `${damaged.length === 1 ? '1 object is' : `${damaged.length} objects are`} damaged; what cannot be read was skipped:`,
    ...damaged.map(({ message }) => `  ${message}`),
  ];
}
