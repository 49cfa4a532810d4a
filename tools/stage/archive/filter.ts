import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { tableKey } from '../../../lambda/effects/table-key.ts';
import { CommandError } from '../../terminal/command-error.ts';

const outcomes = {
  Processed: true,
  Stale: true,
  Duplicate: true,
  DeadLettered: true,
} satisfies Record<SettledOutcome, true>;

/** In the order in which people are shown them. */
export const settledOutcomes = Object.keys(outcomes) as SettledOutcome[];

/** Which records. What is absent admits all. */
export interface RecordFilter {
  readonly events?: readonly EventName[];
  /** Settled then or later. */
  readonly since?: Date;
  /** Settled before. */
  readonly until?: Date;
  /** As the partner writes it. */
  readonly shop?: string;
  /** Any of these: an event's id or its beginning, or the whole id of the request that brought it. */
  readonly ids?: readonly string[];
  readonly outcomes?: readonly SettledOutcome[];
}

/** What the same options hold where they were not typed. */
type Typed<Options> = { readonly [Name in keyof Options]: Options[Name] | undefined };

/**
 * The filter of a command's options. An empty list was not typed.
 * @throws CommandError where no time is in the window
 */
export function recordFilter(typed: Typed<RecordFilter>): RecordFilter {
  const { since, until } = typed;
  if (since !== undefined && until !== undefined && until <= since) {
    throw new CommandError(
      `--until must be after --since: ${until.toISOString()} is not after ${since.toISOString()}`,
    );
  }
  const given = Object.entries(typed).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(given);
}

export function matches(filter: RecordFilter, record: ArchiveRecord): boolean {
  const { events, since, until, shop, ids, outcomes } = filter;
  const settledAt = Date.parse(record.settledAt);
  return (
    (events === undefined || events.includes(record.event)) &&
    (since === undefined || settledAt >= since.getTime()) &&
    (until === undefined || settledAt < until.getTime()) &&
    (shop === undefined || record.shopId === tableKey(shop)) &&
    (outcomes === undefined || outcomes.includes(record.outcome)) &&
    (ids === undefined || ids.some((id) => record.eventId.startsWith(id) || record.requestId === id))
  );
}
