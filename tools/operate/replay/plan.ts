import { matches, type RecordFilter } from '../archive/filter.ts';
import { DamagedObjectError } from '../archive/lines.ts';
import { type ArchivedObject, archiveObjects } from '../archive/objects.ts';
import { readObject } from '../archive/records.ts';
import type { FoundStack } from '../stack.ts';
import { DoneObjects } from './done-objects.ts';
import { Tally } from './tally.ts';

/** Objects that are read at a time: each is a call to S3 that mostly waits. */
const AT_A_TIME = 8;

/** What a replay would do. */
export interface Plan {
  readonly records: Tally;
  readonly objects: number;
  /** Bytes of the objects as they are stored. */
  readonly bytes: number;
  readonly damaged: readonly string[];
  /** Objects that have nothing to send, and what is skipped in them: nobody need read these again. */
  readonly barren: { readonly objects: DoneObjects; readonly records: Tally };
}

/**
 * Reads what there is to replay, and holds none of it.
 * @param onObject told of each object that was read
 * @returns undefined where Ctrl-C ended it
 */
export async function makePlan(
  stack: FoundStack,
  filter: RecordFilter,
  signal: AbortSignal,
  onObject: (records: Tally, objects: number) => void = () => {},
): Promise<Plan | undefined> {
  const records = new Tally();
  const barren = { objects: new DoneObjects(), records: new Tally() };
  const damaged: string[] = [];
  let objects = 0;
  let bytes = 0;

  async function look(object: ArchivedObject): Promise<void> {
    const own = new Tally();
    let isDamaged = false;
    try {
      for await (const { record } of readObject(stack, object, signal)) {
        if (matches(filter, record)) own.add(record);
      }
    } catch (error) {
      if (!(error instanceof DamagedObjectError)) throw error;
      damaged.push(error.message);
      isDamaged = true;
    }
    // A read that Ctrl-C ended says nothing of the rest.
    if (signal.aborted) return;
    records.merge(own);
    objects += 1;
    bytes += object.bytes;
    if (own.messages === 0 && !isDamaged) {
      barren.objects.add(object.key);
      barren.records.merge(own);
    }
    onObject(records, objects);
  }

  const all = archiveObjects(stack, filter);
  const reader = async () => {
    for (let next = await all.next(); !next.done && !signal.aborted; next = await all.next()) {
      await look(next.value);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, reader));
  return signal.aborted ? undefined : { records, objects, bytes, damaged: damaged.sort(), barren };
}
