import { type Delivery, type DeliveryState, states } from '../../../stage/history/history.ts';

/** Filter of the list. The server applies only `search`; the page applies the rest. */
export interface ListFilter {
  readonly event: string;
  readonly states: ReadonlySet<DeliveryState> | undefined;
  /** Part of the shop's id, in lower case. */
  readonly shop: string;
  readonly since: Moment | undefined;
  readonly until: Moment | undefined;
}

/** A moment: `at` in epoch milliseconds, or `ago` in milliseconds before now. */
type Moment = { readonly at: number } | { readonly ago: number };

const FILTER_NAMES = ['search', 'event', 'state', 'shop', 'since', 'until'] as const;

/** Query values that remove all filters from the address. */
export const NO_FILTERS = Object.fromEntries(FILTER_NAMES.map((name) => [name, '']));

export const isFiltered = (query: Readonly<Record<string, string>>) =>
  FILTER_NAMES.some((name) => (query[name] ?? '').trim() !== '');

/** Milliseconds per unit of a duration such as `15m`. */
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads the filters of an address.
 * @returns a sentence for people if a filter is invalid
 */
export function readFilter(query: Readonly<Record<string, string>>): ListFilter | string {
  const text = (name: (typeof FILTER_NAMES)[number]) => query[name]?.trim() ?? '';
  const [since, until] = [readMoment(text('since')), readMoment(text('until'))];
  if (since === 'invalid' || until === 'invalid') {
    const name = since === 'invalid' ? 'since' : 'until';
    return `“${text(name)}” is not a time. “${name}” must be ISO 8601 or a duration such as 15m, 3h or 7d.`;
  }
  if (since !== undefined && until !== undefined && 'at' in since && 'at' in until && until.at <= since.at) {
    return 'The end of the time range must be after its start.';
  }
  const words = text('state') === '' ? undefined : text('state').split(',');
  const unknown = words?.find((word) => !isState(word));
  if (unknown !== undefined) return `“${unknown}” is not a state. States are ${states.join(', ')}.`;
  return {
    event: text('event'),
    states: words && new Set(words.filter(isState)),
    shop: text('shop').toLowerCase(),
    since,
    until,
  };
}

const isState = (text: string): text is DeliveryState => states.some((state) => state === text);

export function readMoment(text: string): Moment | 'invalid' | undefined {
  if (text === '') return undefined;
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return { ago: Number(count) * (UNITS[unit] ?? 0) };
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 'invalid' : { at };
}

/** @param now epoch milliseconds */
export const momentAt = (moment: Moment, now: number) => ('at' in moment ? moment.at : now - moment.ago);

/**
 * The filters with absolute instead of relative times, so that a shared link shows the same deliveries later.
 */
export function withAbsoluteTimes(
  query: Readonly<Record<string, string>>,
  now: number,
): Readonly<Record<string, string>> {
  const { since = '', until = '' } = query;
  const absolute = (text: string) => {
    const moment = readMoment(text.trim());
    return typeof moment === 'object' && 'ago' in moment
      ? new Date(momentAt(moment, now)).toISOString()
      : text;
  };
  const hasOpenEnd = absolute(since) !== since && until === '';
  return {
    ...query,
    since: absolute(since),
    until: hasOpenEnd ? new Date(now).toISOString() : absolute(until),
  };
}

/** Whether the filter's result changes as time passes, as with `since=15m`. */
export const movesWithTime = (filter: ListFilter | string) =>
  typeof filter !== 'string' &&
  [filter.since, filter.until].some((moment) => moment !== undefined && 'ago' in moment);

/** @param now epoch milliseconds */
export function matches(
  { event, shopId, state, receivedAt }: Delivery,
  filter: ListFilter,
  now: number,
): boolean {
  if (filter.event !== '' && event !== filter.event) return false;
  if (filter.states !== undefined && !filter.states.has(state)) return false;
  if (filter.shop !== '' && !shopId?.toLowerCase().includes(filter.shop)) return false;
  if (filter.since === undefined && filter.until === undefined) return true;
  const at = Date.parse(receivedAt);
  if (filter.since !== undefined && at < momentAt(filter.since, now)) return false;
  return filter.until === undefined || at < momentAt(filter.until, now);
}
