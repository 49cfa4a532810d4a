import { readSamples } from '../../events/samples.ts';
import { ofThisRun } from './settings.ts';

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
  return readSamples().map(({ event, name, payload }) => {
    const ids: string[] = [];
    const sample = JSON.parse(JSON.stringify(payload), (key, value: unknown) => {
      if (typeof value !== 'string' || !key.endsWith('_id')) return value;
      const id = ofThisRun(`${name}-${value}`);
      ids.push(id);
      return id;
    }) as object;
    return { event, body: JSON.stringify({ ...sample, timestamp: new Date().toISOString() }), ids };
  });
}
