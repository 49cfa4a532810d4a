import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import type { Exchange } from '../../local/observation.ts';
import type { LogLine } from '../operate/trace/log-line.ts';
import type { Delivery } from './api.ts';

/** What is known of deliveries, by whatever tells of them, in whatever order. In memory; the oldest go first. */
export class Deliveries {
  /** A line that a function wrote about an event. */
  addLine(_line: LogLine): void {
    throw new Error('Not written yet');
  }

  /** A request as the local gateway answered it. */
  addExchange(_exchange: Exchange): void {
    throw new Error('Not written yet');
  }

  addRecord(_record: ArchiveRecord): void {
    throw new Error('Not written yet');
  }

  /** @returns undefined where it is not known, or not any more */
  get(_id: string): Delivery | undefined {
    throw new Error('Not written yet');
  }
}
