import { type Delivery, type DeliveryState, states } from '../../../stage/history/history.ts';
import { stateTitle } from '../../../stage/history/state-text.ts';
import { type ListFilter, matches, momentAt } from './list-filter.ts';

/** Groups of deliveries for counts and colours. Deliveries that need a person are first, and lowest in a bar. */
export const OUTCOMES = ['needs-you', 'rejected', 'in-progress', 'done'] as const;
export type OutcomeGroup = (typeof OUTCOMES)[number];

export const OUTCOME_WORDS: Readonly<Record<OutcomeGroup, string>> = {
  'needs-you': 'Needs you',
  rejected: 'Rejected',
  'in-progress': 'In progress',
  done: 'Done',
};

/**
 * Name, as in `npx hookctl dlq`, of the queue where the delivery waits for a redrive. Undefined if it does
 * not wait: other failures were answered with an error, and the partner retries.
 */
export function redriveQueue({ state, event = '' }: Pick<Delivery, 'state' | 'event'>): string | undefined {
  if (state === 'dead-letter') return event;
  if (state === 'invalid') return 'quarantine';
  return state === 'parked' ? 'unrouted' : undefined;
}

export function outcomeOf(state: DeliveryState): OutcomeGroup {
  if (redriveQueue({ state }) !== undefined) return 'needs-you';
  const { tone } = stateTitle(state);
  return tone === 'good' ? 'done' : tone === 'bad' ? 'rejected' : 'in-progress';
}

export const statesOf = (outcome: OutcomeGroup): readonly DeliveryState[] =>
  states.filter((state) => outcomeOf(state) === outcome);

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

/** Maximum number of bars. With more, each would be too thin to click. */
const MAX_BARS = 120;

/** Minimum time range in milliseconds, if the filter sets none. */
const MIN_RANGE = 30 * MINUTE;

const none = (): OutcomeCounts => ({ 'needs-you': 0, rejected: 0, 'in-progress': 0, done: 0 });

/**
 * Counts the deliveries that match a filter. The filter's states are ignored, so that each count is what its
 * button would show.
 * @param rows newest first
 * @param now epoch milliseconds
 */
export function countOutcomes(rows: readonly Delivery[], filter: ListFilter, now: number): Outcomes {
  const admitted = rows.filter((row) => matches(row, { ...filter, states: undefined }, now));
  const newest = admitted[0];
  const oldest = admitted.at(-1);
  const end = filter.until === undefined ? Math.max(now, at(newest) ?? 0) : momentAt(filter.until, now);
  const begin =
    filter.since === undefined
      ? Math.min(at(oldest) ?? end, end - MIN_RANGE)
      : Math.min(momentAt(filter.since, now), end);
  const step = STEPS.find((length) => (end - begin) / length < MAX_BARS) ?? 7 * DAY;
  // Bars of days begin at midnight, local time.
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

interface BarPart {
  readonly outcome: OutcomeGroup;
  readonly bottom: number;
  readonly height: number;
}

/** Minimum height of a part in pixels, so that one failure among thousands is visible. */
const MIN_PART_HEIGHT = 2;

/**
 * @param highest number of deliveries in the highest bar
 * @param height of the highest bar, in pixels
 */
export function stackOf(
  counts: Readonly<OutcomeCounts>,
  highest: number,
  height: number,
): readonly BarPart[] {
  let bottom = 0;
  return OUTCOMES.flatMap((outcome) => {
    if (counts[outcome] === 0) return [];
    const part = Math.max(MIN_PART_HEIGHT, (counts[outcome] / highest) * (height - 2 * MIN_PART_HEIGHT));
    bottom += part;
    return [{ outcome, bottom: bottom - part, height: part }];
  });
}
