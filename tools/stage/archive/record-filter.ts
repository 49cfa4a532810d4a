import { Argument, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record.ts';
import { settledOutcomes } from '../../../lambda/archive/record-schema.ts';
import { tableKey } from '../../../lambda/effects/table-key.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { UsageError } from '../../terminal/command-error.ts';
import { eachOf, time } from '../../terminal/options.ts';
import { SHORT_ID_LENGTH } from '../../terminal/terminal.ts';

/** Selects records. An absent property matches all. */
export interface RecordFilter {
  readonly events?: readonly EventName[] | undefined;
  /** Settled at this time or later. */
  readonly since?: Date | undefined;
  /** Settled before this time. */
  readonly until?: Date | undefined;
  /** The shop's id as the partner writes it. */
  readonly shop?: string | undefined;
  /** Any of these: an event id or its beginning, or the whole id of the request that brought the event. */
  readonly ids?: readonly string[] | undefined;
  readonly outcomes?: readonly SettledOutcome[] | undefined;
}

/** @throws CommandError if the window is empty */
export function requireWindow({ since, until }: RecordFilter): void {
  if (since === undefined || until === undefined || since < until) return;
  throw new UsageError(
    `--until must be after --since: ${until.toISOString()} is not after ${since.toISOString()}`,
  );
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

export const eventsArgument = () =>
  new Argument('[events...]', 'events, such as shop.updated (default: all)').argParser<readonly EventName[]>(
    eachOf(eventNames),
  );

export const sinceOption = () =>
  new Option(
    '--since <time>',
    'only records settled since this time (2026-01-31T09:00:00Z), date (2026-01-31) or age (3h, 7d)',
  ).argParser(time);

export const untilOption = () =>
  new Option('--until <time>', 'only records settled before this time').argParser(time);

export const shopOption = () => new Option('--shop <id>', 'only this shop');

export const outcomeOption = () =>
  new Option('--outcome <outcome>', `only this outcome: ${settledOutcomes.join(', ')}; repeatable`).argParser<
    readonly SettledOutcome[]
  >(eachOf(settledOutcomes));

export const idOption = () =>
  new Option(
    '--id <id>',
    `only this event (${SHORT_ID_LENGTH} or more characters of its id) or request (full id); repeatable`,
  ).argParser<readonly string[]>((text, before = []) => {
    if (text.length >= SHORT_ID_LENGTH) return [...before, text];
    throw new InvalidArgumentError(`At least ${SHORT_ID_LENGTH} characters: a shorter id is ambiguous.`);
  });
