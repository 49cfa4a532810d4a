import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import { type EventName, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import { REPLAYABLE_DAYS, type ReplayMode } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';
import { recordFilter } from '../archive/filter.ts';
import type { Stage } from '../stage.ts';
import type { ReplayState } from './state.ts';

/** A time as it was typed, and the moment that it means. */
interface TypedTime {
  readonly text: string;
  readonly moment: Date;
}

/** The options of a replay. */
export interface ReplayOptions {
  /** @default every event */
  readonly events: readonly EventName[];
  readonly since?: TypedTime | undefined;
  /** @default now */
  readonly until?: TypedTime | undefined;
  readonly shop?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly outcomes?: readonly SettledOutcome[] | undefined;
  /** @default fill */
  readonly mode?: ReplayMode | undefined;
  readonly notify?: boolean | undefined;
  /** @default mode and time */
  readonly name?: string | undefined;
  /** Messages a second, at most. */
  readonly rate: number;
  /** Ends after the plan. */
  readonly dryRun: boolean;
  /** Does not ask. */
  readonly yes: boolean;
}

/** What is fixed when a replay begins. */
export type ReplayRequest = Pick<ReplayState, 'name' | 'mode' | 'notify' | 'filter' | 'typed'>;

const DAY = 24 * 60 * 60 * 1000;

/** @throws CommandError if a replay cannot do that */
export function newRequest(stack: Stage, options: ReplayOptions, now: Date): ReplayRequest {
  const { events, since, until, shop, ids, outcomes, mode = 'fill', notify = false, name } = options;
  if (since === undefined) {
    throw new CommandError(
      name === undefined
        ? 'Give a start, such as --since 3d'
        : `There is no replay ${name} in ${stack.title}. To begin one, give --since`,
    );
  }
  const end = until?.moment ?? now;
  for (const [option, time] of Object.entries({ since: since.moment, until: end })) {
    if (time > now) throw new CommandError(`--${option} is in the future: ${time.toISOString()}`);
  }
  // Refuses an empty window.
  recordFilter({ since: since.moment, until: end });
  const earliest = new Date(now.getTime() - REPLAYABLE_DAYS * DAY);
  if (since.moment < earliest) {
    throw new CommandError(
      `A replay reaches back ${REPLAYABLE_DAYS} days, to ${earliest.toISOString()}. --since is ${since.moment.toISOString()}`,
    );
  }
  if (notify && events.length > 0 && !events.some(isNotification)) {
    const notifying = eventNames.filter(isNotification).join(' and ');
    throw new CommandError(
      `--notify is for events that send notifications: ${notifying}. These do not: ${events.join(', ')}`,
    );
  }
  return {
    name: name ?? `${mode}-${compact(now)}`,
    mode,
    notify,
    filter: {
      events: [...new Set(events.length === 0 ? eventNames : events)],
      since: since.moment.toISOString(),
      until: end.toISOString(),
      shop,
      ids: ids && [...ids],
      outcomes: outcomes && [...outcomes],
    },
    typed: { since: since.text, until: until?.text },
  };
}

/**
 * Compares the options given on resume with those of the replay. An option that is not given stays as it was.
 * @throws CommandError that names the differences
 */
export function refuseAnother(options: ReplayOptions, state: ReplayState): void {
  const { name, mode, notify, filter, typed } = state;
  const { events, since, until, shop, ids, outcomes } = options;
  const list = (items: readonly string[] = []) => [...new Set(items)].sort().join(', ') || undefined;
  const time = (given: TypedTime | undefined, text: string | undefined, moment: string) =>
    given?.text === text ? moment : given?.moment.toISOString();
  const compared: readonly (readonly [string, given: string | undefined, own: string | undefined])[] = [
    ['event', list(events), list(filter.events)],
    ['--since', time(since, typed.since, filter.since), filter.since],
    ['--until', time(until, typed.until, filter.until), filter.until],
    ['--shop', shop, filter.shop],
    ['--id', list(ids), list(filter.ids)],
    ['--outcome', list(outcomes), list(filter.outcomes)],
    ['--mode', options.mode, mode],
    ['--notify', options.notify ? 'on' : undefined, notify ? 'on' : 'off'],
  ];
  const differences = compared.flatMap(([option, given, own = 'any']) =>
    given === undefined || given === own ? [] : [`its ${option} is ${own}`],
  );
  if (differences.length === 0) return;
  throw new CommandError(
    `Replay ${name} has other options: ${differences.join('; ')}. Continue it with --name alone, or choose another --name`,
  );
}

/** `20261121-093000`. */
const compact = (time: Date) => time.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
