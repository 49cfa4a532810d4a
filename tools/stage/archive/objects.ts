import { type EventName, eventNames } from '../../../lambda/contract/catalogue.ts';
import type { Stage } from '../stage.ts';
import type { RecordFilter } from './filter.ts';
import { listArchive } from './reader.ts';

/** With the event that its key names. */
export interface ArchivedObject {
  readonly key: string;
  readonly bytes: number;
  readonly event: EventName;
}

/** As {@link listArchive}, with the event of each object. */
export async function* archiveObjects(
  stage: Stage,
  { events = eventNames, since, until }: Pick<RecordFilter, 'events' | 'since' | 'until'>,
): AsyncGenerator<ArchivedObject> {
  for (const event of [...new Set(events)].sort()) {
    for await (const object of listArchive(stage, { events: [event], since, until }))
      yield { ...object, event };
  }
}

export const archiveBucket = ({ archiveBucket }: Stage): string => archiveBucket;
