import { matches, type RecordFilter } from '../archive/filter.ts';
import type { DamagedObjectError } from '../archive/lines.ts';
import { readObject } from '../archive/records.ts';
import { eachObject } from '../archive/scan.ts';
import type { Operation } from '../operation.ts';
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
  readonly damaged: readonly DamagedObjectError[];
  /** Objects that have nothing to send, and what is skipped in them: nobody need read these again. */
  readonly barren: { readonly objects: DoneObjects; readonly records: Tally };
}

/** Reads what there is to replay, and holds none of it. @returns undefined where Ctrl-C ended it */
export async function makePlan(
  operation: Pick<Operation, 'stack' | 'signal' | 'progress'>,
  filter: RecordFilter,
): Promise<Plan | undefined> {
  const { stack, signal } = operation;
  const records = new Tally();
  const barren = { objects: new DoneObjects(), records: new Tally() };
  const { objects, bytes, damaged } = await eachObject(
    operation,
    filter,
    'Planning',
    AT_A_TIME,
    async (object) => {
      const own = new Tally();
      try {
        for await (const { record } of readObject(stack, object, signal)) {
          if (matches(filter, record)) own.add(record);
        }
      } finally {
        records.merge(own);
      }
      // A read that Ctrl-C ended says nothing of the rest.
      if (signal.aborted || own.messages > 0) return;
      barren.objects.add(object.key);
      barren.records.merge(own);
    },
  );
  return signal.aborted ? undefined : { records, objects, bytes, damaged, barren };
}
