import { lateProgress } from '../../terminal/progress.ts';
import type { Operation } from '../operation.ts';
import type { RecordFilter } from './filter.ts';
import { DamagedObjectError } from './lines.ts';
import { type ArchivedObject, archiveObjects } from './objects.ts';

export { describeDamage } from './reader.ts';

/** Does something with each object, some at a time. A replay's plan still uses it: `readArchive` replaces it. */
export async function eachObject(
  { stack, signal, progress = lateProgress() }: Pick<Operation, 'stack' | 'signal' | 'progress'>,
  filter: RecordFilter,
  doing: string,
  parallel: number,
  work: (object: ArchivedObject) => Promise<void>,
) {
  let total = 0;
  for await (const _ of archiveObjects(stack, filter)) total += 1;
  const damaged: DamagedObjectError[] = [];
  let objects = 0;
  let bytes = 0;
  const queue = archiveObjects(stack, filter);
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
