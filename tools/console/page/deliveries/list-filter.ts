import type { Delivery } from '../../../stage/history/history.ts';
import { OUTCOMES, type OutcomeGroup, outcomeOf } from './outcomes.ts';

/** Filter of the list. The server applies `text`; the page applies the rest. */
interface ListFilter {
  /** Part of a payload, an id or an error. */
  readonly text: string;
  /** Part of the event's name, in lower case. */
  readonly event: string;
  /** Part of the shop's id, in lower case. */
  readonly shop: string;
  readonly outcome: OutcomeGroup | undefined;
  readonly since: Moment | undefined;
}

/** A moment: `at` in epoch milliseconds, or `ago` in milliseconds before now. */
type Moment = { readonly at: number } | { readonly ago: number };

type Query = Readonly<Record<string, string>>;

const FILTER_NAMES = ['search', 'outcome', 'since'] as const;

/** Query values that remove all filters from the address. */
export const NO_FILTERS = Object.fromEntries(FILTER_NAMES.map((name) => [name, '']));

export const isFiltered = (query: Query) => FILTER_NAMES.some((name) => (query[name] ?? '').trim() !== '');

/** Words of the search that do not search the payload: `shop:shop-7`, `event:girl`. */
const WORD = /(?:^|\s)(shop|event):(\S*)/g;

export function readSearch(search: string): Pick<ListFilter, 'text' | 'event' | 'shop'> {
  const words = Object.fromEntries([...search.matchAll(WORD)].map(([, name, value = '']) => [name, value]));
  const { event = '', shop = '' } = words;
  return { text: search.replaceAll(WORD, '').trim(), event: event.toLowerCase(), shop: shop.toLowerCase() };
}

/**
 * Reads the filters of an address.
 * @returns a sentence for people if a filter is invalid
 */
export function readFilter({ search = '', outcome, since = '' }: Query): ListFilter | string {
  const moment = readMoment(since.trim());
  if (moment === 'invalid') {
    return `“${since}” is not a time. It must be ISO 8601 or a duration such as 15m, 3h or 7d.`;
  }
  const known = OUTCOMES.find((name) => name === outcome);
  if (outcome && known === undefined) {
    return `“${outcome}” is not an outcome. Outcomes are ${OUTCOMES.join(', ')}.`;
  }
  return { ...readSearch(search), outcome: known, since: moment };
}

/** Milliseconds per unit of a duration such as `15m`. */
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function readMoment(text: string): Moment | 'invalid' | undefined {
  if (text === '') return undefined;
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return { ago: Number(count) * (UNITS[unit] ?? 0) };
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 'invalid' : { at };
}

/** Whether the filter's result changes as time passes, as with `since=15m`. */
export const movesWithTime = ({ since }: ListFilter) => since !== undefined && 'ago' in since;

/** @param now epoch milliseconds */
export function matches(
  { event = '', shopId = '', state, receivedAt }: Delivery,
  filter: ListFilter,
  now: number,
): boolean {
  if (!event.toLowerCase().includes(filter.event) || !shopId.toLowerCase().includes(filter.shop))
    return false;
  if (filter.outcome !== undefined && outcomeOf(state) !== filter.outcome) return false;
  const { since } = filter;
  return since === undefined || Date.parse(receivedAt) >= ('at' in since ? since.at : now - since.ago);
}
