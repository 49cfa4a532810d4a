import type { SettledOutcome } from '../../../lambda/archive/record.ts';
import { type EventName, eventNames } from '../../../lambda/contract/catalogue.ts';
import { REPLAYABLE_DAYS, type ReplayMode } from '../../../lambda/queue/replay.ts';
import { isNotification } from '../../cost/write-units.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { recordFilter } from '../archive/filter.ts';
import type { Stage } from '../stage.ts';
import type { ReplayState } from './state.ts';

/** A time as it was typed, and what that is. */
export interface TypedTime {
  readonly text: string;
  readonly moment: Date;
}

/** What a replay can be told. */
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
  /** Messages a second at most. */
  readonly rate: number;
}

/** What of a replay stays as it is from its start on. */
export type ReplayRequest = Pick<ReplayState, 'name' | 'mode' | 'notify' | 'filter' | 'typed'>;

const DAY = 24 * 60 * 60 * 1000;

/** @throws CommandError where it is not what a replay can do */
export function newRequest(stack: Stage, options: ReplayOptions, now: Date): ReplayRequest {
  const { events, since, until, shop, ids, outcomes, mode = 'fill', notify = false, name } = options;
  if (since === undefined) {
    throw new CommandError(
      name === undefined
        ? 'Say from when: --since …'
        : `There is no replay ${name} in ${stack.title} to go on with; a new one needs --since`,
    );
  }
  const end = until?.moment ?? now;
  for (const [option, time] of [
    ['since', since.moment],
    ['until', end],
  ] as const) {
    if (time > now) throw new CommandError(`--${option} is still to come: ${time.toISOString()}`);
  }
  // Refuses a window without any time in it.
  recordFilter({ since: since.moment, until: end });
  const earliest = new Date(now.getTime() - REPLAYABLE_DAYS * DAY);
  if (since.moment < earliest) {
    throw new CommandError(
      `A replay reaches back ${REPLAYABLE_DAYS} days, to ${earliest.toISOString()}: --since is ${since.moment.toISOString()}`,
    );
  }
  if (notify) refuseToTellNobody(events);
  return {
    name: name ?? `${mode}-${compact(now)}`,
    mode,
    notify,
    filter: {
      events: [...new Set(events.length === 0 ? eventNames : events)],
      since: since.moment.toISOString(),
      until: end.toISOString(),
      ...(shop !== undefined && { shop }),
      ...(ids !== undefined && { ids: [...ids] }),
      ...(outcomes !== undefined && { outcomes: [...outcomes] }),
    },
    typed: { since: since.text, ...(until !== undefined && { until: until.text }) },
  };
}

/**
 * Holds what was typed to go on with a replay against what it was begun with. What was not typed is as it was.
 * @throws CommandError that names the difference
 */
export function refuseAnother(
  options: ReplayOptions,
  { name, mode, notify, filter, typed }: ReplayState,
): void {
  const isTime = (time: TypedTime | undefined, text: string | undefined, moment: string) =>
    time === undefined || time.text === text || time.moment.toISOString() === moment;
  const differences = [
    options.events.length > 0 &&
      !areSame(options.events, filter.events) &&
      `it is of ${filter.events.join(', ')}`,
    !isTime(options.since, typed.since, filter.since) && `its --since is ${filter.since}`,
    !isTime(options.until, typed.until, filter.until) && `its --until is ${filter.until}`,
    options.shop !== undefined && options.shop !== filter.shop && `its --shop is ${filter.shop ?? 'any'}`,
    options.ids !== undefined && !areSame(options.ids, filter.ids ?? []) && `its --id is ${some(filter.ids)}`,
    options.outcomes !== undefined &&
      !areSame(options.outcomes, filter.outcomes ?? []) &&
      `its --outcome is ${some(filter.outcomes)}`,
    options.mode !== undefined && options.mode !== mode && `its --mode is ${mode}`,
    options.notify === true && !notify && 'it has no --notify',
  ].filter((difference) => difference !== false);
  if (differences.length === 0) return;
  throw new CommandError(
    `Replay ${name} was begun otherwise: ${differences.join('; ')}. Go on with --name alone, or give another one`,
  );
}

const areSame = (some: readonly string[], others: readonly string[]) =>
  new Set(some).size === new Set(others).size && some.every((item) => others.includes(item));

const some = (items: readonly string[] | undefined) => items?.join(', ') ?? 'any';

function refuseToTellNobody(events: readonly EventName[]): void {
  if (events.length === 0 || events.some(isNotification)) return;
  const telling = eventNames.filter(isNotification).join(' and ');
  throw new CommandError(
    `--notify is for events that tell people, which are ${telling}, not ${events.join(', ')}`,
  );
}

/** `20261121-093000`. */
const compact = (time: Date) => time.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
