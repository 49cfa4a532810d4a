import { Argument, type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { ArchiveRecord, SettledOutcome } from '../../../lambda/archive/record-schema.ts';
import { settledOutcomes } from '../../../lambda/archive/record-schema.ts';
import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { UsageError } from '../../terminal/command-error.ts';
import { eachOf, time } from '../../terminal/options.ts';
import { SHORT_ID_LENGTH } from '../../terminal/terminal.ts';
import { onStage } from '../operation.ts';
import { isOfShop, type PayloadFilter, searchOption, shopOption } from '../payload-filter.ts';

/** Selects records. An absent property matches all. */
export interface RecordFilter extends PayloadFilter {
  readonly events?: readonly EventName[] | undefined;
  /** Settled at this time or later. */
  readonly since?: Date | undefined;
  /** Settled before this time. */
  readonly until?: Date | undefined;
  /** Event ids or request ids, or the beginnings of such ids. A record matches if one of them does. */
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

/** Whether a record matches, apart from the text of its payload. */
export function matches(filter: RecordFilter, record: ArchiveRecord): boolean {
  const { events, since, until, shop, ids, outcomes } = filter;
  const settledAt = Date.parse(record.settledAt);
  return (
    (events === undefined || events.includes(record.event)) &&
    (since === undefined || settledAt >= since.getTime()) &&
    (until === undefined || settledAt < until.getTime()) &&
    (shop === undefined || isOfShop(shop, record.shopId)) &&
    (outcomes === undefined || outcomes.includes(record.outcome)) &&
    (ids === undefined || ids.some((id) => record.eventId.startsWith(id) || record.requestId?.startsWith(id)))
  );
}

/** Adds the options that name the stage of a command, and those that select records. */
export const onRecords = (command: Command) =>
  onStage(command)
    .addArgument(
      new Argument('[events...]', 'events, such as shop.updated (default: all)').argParser<
        readonly EventName[]
      >(eachOf(eventNames)),
    )
    .option(
      '--since <time>',
      'only records settled since this time: 2026-01-31T09:00:00Z, 2026-01-31 or 3h',
      time,
    )
    .option('--until <time>', 'only records settled before this time', time)
    .addOption(shopOption())
    .addOption(searchOption())
    .addOption(
      new Option(
        '--outcome <outcome>',
        `only this outcome: ${settledOutcomes.join(', ')}; repeatable`,
      ).argParser<readonly SettledOutcome[]>(eachOf(settledOutcomes)),
    );

/** @param what the ids name */
export const idOption = (what = 'event or request') =>
  new Option(
    '--id <id>',
    `only this ${what}: at least ${SHORT_ID_LENGTH} characters of its id; repeatable`,
  ).argParser<readonly string[]>((text, before = []) => {
    if (text.length >= SHORT_ID_LENGTH) return [...before, text];
    throw new InvalidArgumentError(`At least ${SHORT_ID_LENGTH} characters: a shorter id is ambiguous.`);
  });
