import { setTimeout as sleep } from 'node:timers/promises';
import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import type { ArchivedObject } from '../stage/archive/objects.ts';
import { readArchive } from '../stage/archive/reader.ts';
import type { Stage } from '../stage/stage.ts';

/** Milliseconds between two looks at which objects there are: Firehose writes one in some minutes. */
const INTERVAL = 60_000;

/**
 * What one look reads at most, from the newest object on. Older objects are left to the next look, or to a search. Each
 * object is a call, and its bytes, as they are stored, come over the network.
 */
const LIMITS = { objects: 200, bytes: 64 * 1024 * 1024 };

interface FeedOptions {
  /** Nothing that was settled earlier. */
  readonly since: Date;
  readonly signal: AbortSignal;
  /** @param object that has the record */
  readonly onRecord: (record: ArchiveRecord, object: ArchivedObject) => void;
  /** Called after each look: why it failed, or undefined. */
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
    const skip = (key: string) => read.has(key);
    const reading = readArchive(stack, { since, order: 'newest-first', limits: LIMITS, skip, signal });
    // What can be read of a damaged object is shown. `npm run archive` names the damage.
    for await (const object of reading) {
      const { key, bytes } = object;
      for await (const { record } of object.records()) {
        if (Date.parse(record.settledAt) < since.getTime()) continue;
        onRecord(record, { key, bytes, event: record.event });
      }
      if (!signal.aborted) read.add(key);
    }
  }
}
