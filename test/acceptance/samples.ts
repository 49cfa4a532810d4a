import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ofThisRun } from './settings.ts';

const FOLDER = 'events';

/** A sample event, made this run's own. */
export interface SampleDelivery {
  readonly event: string;
  /** As it is posted: the same text each time it is asked for. */
  readonly body: string;
  /** Every id in it: one of them is the key of the row that it may write. */
  readonly ids: readonly string[];
}

/**
 * Every sample of `events/`, newer than whatever was sent before: each text under a key that ends in `_id`, such
 * as `shop_id`, bears the name of this run and of the event.
 */
export function sampleDeliveries(): SampleDelivery[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      const ids: string[] = [];
      const sample = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'), (key, value: unknown) => {
        if (typeof value !== 'string' || !key.endsWith('_id')) return value;
        const id = ofThisRun(`${file.replace(/\.json$/, '')}-${value}`);
        ids.push(id);
        return id;
      }) as { event?: string };
      const body = JSON.stringify({ ...sample, timestamp: new Date().toISOString() });
      // What says of no event which it is, is no sample.
      return sample.event === undefined ? [] : [{ event: sample.event, body, ids }];
    });
}
