import type { Stage } from '../stage.ts';
import type { Held } from './held.ts';
import { archiveDays } from './retention.ts';

const DAY = 24 * 60 * 60 * 1000;

/**
 * Days by which an object that nobody rewrote may outlive a record's term: Firehose tries for a day to write it, and S3
 * expires at the midnight after. Sources: Firehose developer guide, "Handle data delivery failures"; S3 user guide,
 * "Lifecycle rules".
 */
const LATEST_EXPIRY_DAYS = 2;

/**
 * The days for which payloads are kept, counted from settling. S3 counts from when an object was written, so one that is
 * rewritten outlives them.
 */
export class Term {
  readonly days: number;
  readonly #end: number;

  constructor(days: number) {
    this.days = days;
    this.#end = Date.now() - days * DAY;
  }

  /** @returns undefined where it cannot be known how long the archive keeps records */
  static async of(stack: Stage): Promise<Term | undefined> {
    const days = await archiveDays(stack);
    return days === undefined ? undefined : new Term(days);
  }

  /** Whether a record holds a payload beyond its term. What it refers to in the payload bucket expires by itself. */
  isOver({ settledAt, body }: Held): boolean {
    return body !== undefined && Date.parse(settledAt) < this.#end;
  }

  /** Whether it does only because its object was rewritten: S3 has deleted every other one. */
  isLongOver(record: Held): boolean {
    return this.isOver(record) && Date.parse(record.settledAt) < this.#end - LATEST_EXPIRY_DAYS * DAY;
  }
}
