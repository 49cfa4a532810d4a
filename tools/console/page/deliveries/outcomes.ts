import type { Delivery } from '../../../stage/history/history.ts';
import { type ListFilter, matches, momentAt, type OutcomeGroup, outcomeOf } from './list-filter.ts';

type OutcomeCounts = Record<OutcomeGroup, number>;

export interface Outcomes {
  /** Start of the first bar, in epoch milliseconds. */
  readonly from: number;
  /** Length of each bar, in milliseconds. */
  readonly step: number;
  readonly bars: readonly Readonly<OutcomeCounts>[];
  readonly total: Readonly<OutcomeCounts>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Possible lengths of a bar, in milliseconds. */
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY];

/** With more bars, each would be too thin to click. */
const MAX_BARS = 120;

/** Minimum time range in milliseconds, if the filter sets none. */
const SHORTEST_RANGE = 30 * MINUTE;

const none = (): OutcomeCounts => ({ good: 0, warning: 0, bad: 0 });

/**
 * Counts the deliveries that match a filter, ignoring its states. Each count is therefore the result of that state's
 * filter.
 * @param rows newest first @param now epoch milliseconds
 */
export function countOutcomes(rows: readonly Delivery[], filter: ListFilter, now: number): Outcomes {
  const admitted = rows.filter((row) => matches(row, { ...filter, states: undefined }, now));
  const newest = admitted[0];
  const oldest = admitted.at(-1);
  const end = filter.until === undefined ? Math.max(now, at(newest) ?? 0) : momentAt(filter.until, now);
  const begin =
    filter.since === undefined
      ? Math.min(at(oldest) ?? end, end - SHORTEST_RANGE)
      : Math.min(momentAt(filter.since, now), end);
  const step = STEPS.find((length) => (end - begin) / length < MAX_BARS) ?? 7 * DAY;
  // Days begin at midnight of local time.
  const offset = new Date(end).getTimezoneOffset() * MINUTE;
  const startOf = (time: number) => Math.floor((time - offset) / step) * step + offset;
  const from = Math.max(startOf(begin), startOf(end) - (MAX_BARS - 1) * step);
  const bars = Array.from({ length: Math.floor((end - 1 - from) / step) + 1 || 1 }, none);
  const total = none();
  for (const row of admitted) {
    const outcome = outcomeOf(row.state);
    total[outcome] += 1;
    const bar = bars[Math.floor((Date.parse(row.receivedAt) - from) / step)];
    if (bar !== undefined) bar[outcome] += 1;
  }
  return { from, step, bars, total };
}

const at = (row: Delivery | undefined) => (row === undefined ? undefined : Date.parse(row.receivedAt));

/** Text such as `per minute`, `per 15 minutes`, `per day`. */
export function rateText(step: number): string {
  const [length, name] = step < HOUR ? [MINUTE, 'minute'] : step < DAY ? [HOUR, 'hour'] : [DAY, 'day'];
  return step === length ? `per ${name}` : `per ${step / length} ${name}s`;
}

/** Heights of the parts of a bar. Failures are at the bottom, where they are easiest to see. */
interface BarPart {
  readonly outcome: OutcomeGroup;
  readonly bottom: number;
  readonly height: number;
}

/** Minimum height of a part, so that one failure among thousands is visible. */
const LOWEST = 2;

/** @param highest deliveries of the highest bar @param height its height */
export function stackOf(
  counts: Readonly<OutcomeCounts>,
  highest: number,
  height: number,
): readonly BarPart[] {
  let bottom = 0;
  return (['bad', 'warning', 'good'] as const).flatMap((outcome) => {
    if (counts[outcome] === 0) return [];
    const part = Math.max(LOWEST, (counts[outcome] / highest) * (height - 2 * LOWEST));
    bottom += part;
    return [{ outcome, bottom: bottom - part, height: part }];
  });
}
