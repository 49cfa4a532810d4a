import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Sample {
  /** Event kind, such as `shop.updated`. */
  readonly event: string;
  /** Base name of the sample's file: `shop-updated`. */
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

const SAMPLES_FOLDER = 'events';

/** Every sample event, in the order of their timestamps: the files in `events/` that have a field `event`. */
export function readSamples(): Sample[] {
  return readdirSync(SAMPLES_FOLDER)
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      const payload = JSON.parse(readFileSync(join(SAMPLES_FOLDER, file), 'utf8'));
      return { event: payload.event as string, name: file.replace(/\.json$/, ''), payload };
    })
    .filter(({ payload }) => 'event' in payload)
    .sort((a, b) => String(a.payload.timestamp).localeCompare(String(b.payload.timestamp)));
}

/** The body of a sample with another `timestamp`, such as now: an older event would be skipped as stale. */
export function sampleBody({ payload }: Sample, timestamp: Date): Uint8Array {
  return Buffer.from(JSON.stringify({ ...payload, timestamp: timestamp.toISOString() }));
}
