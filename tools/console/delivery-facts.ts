import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import type { LogLine } from '../stage/history/log-line.ts';
import type { ExchangeFacts } from './exchange-facts.ts';

/** Lines, and records, of one delivery that are kept, the newest: one that fails to the end has twelve. */
const MOST = 100;

/** All that is known of one delivery. What comes twice is kept once, and the order in which it came is forgotten. */
export class DeliveryFacts {
  readonly id: string;
  exchange: ExchangeFacts | undefined;
  /** In order of time. */
  readonly lines: LogLine[] = [];
  /** In order of time. */
  readonly records: ArchiveRecord[] = [];
  /** Epoch milliseconds: when it was last taken from the dead-letter queue to its own. */
  redrivenAt: number | undefined;

  constructor(id: string) {
    this.id = id;
  }

  addLine(line: LogLine): void {
    insert(this.lines, line, ({ at }) => at);
  }

  addRecord(record: ArchiveRecord): void {
    // The row needs none of it, and the archive keeps it.
    const { body: _body, ...facts } = record;
    insert(this.records, facts, ({ settledAt }) => Date.parse(settledAt));
  }

  addRedrive(at: Date): void {
    this.redrivenAt = Math.max(this.redrivenAt ?? 0, at.getTime());
  }
}

/** By time; what is of the same time by its text, so that every order of coming is the same. */
function insert<Item>(items: Item[], item: Item, timeOf: (item: Item) => number): void {
  const at = timeOf(item);
  let index = items.length;
  for (; index > 0; index -= 1) {
    const before = items[index - 1] as Item;
    const difference = timeOf(before) - at;
    if (difference < 0) break;
    if (difference > 0) continue;
    const [one, other] = [textOf(before), textOf(item)];
    if (one === other) return;
    if (one < other) break;
  }
  items.splice(index, 0, item);
  if (items.length > MOST) items.shift();
}

/** The same for the same properties, in whatever order they stand. */
const textOf = (item: unknown) => JSON.stringify(Object.entries(item as object).sort());
