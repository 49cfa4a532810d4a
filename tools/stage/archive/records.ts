import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import type { Stage } from '../stage.ts';
import { ArchiveObject } from './object.ts';

/** The records of one object. @throws DamagedObjectError behind the last record that can be read */
export async function* readObject(
  stage: Stage,
  { key }: { readonly key: string },
  signal = new AbortController().signal,
): AsyncGenerator<{ line: number; record: ArchiveRecord }> {
  const object = new ArchiveObject(stage, key, 0, signal);
  yield* object.records();
  if (object.damage !== undefined) throw object.damage;
}
