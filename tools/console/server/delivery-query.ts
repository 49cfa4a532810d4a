import { type State, states } from '../../stage/history/history.ts';
import type { DeliveryFilter } from '../../stage/history/store.ts';
import { time } from '../../terminal/options.ts';
import type { DeliveryQuery } from '../api.ts';
import { badQuery } from './problem.ts';

/** Characters of a searched text at most. */
const LONGEST_SEARCH = 1_000;

const FILTER_NAMES: readonly (keyof DeliveryQuery)[] = ['search', 'event', 'state', 'shop', 'since', 'until'];

const isState = (text: string): text is State => states.some((state) => state === text);

/**
 * Reads the filter of a query; empty parts are left out.
 * @param others names that the query may have besides
 * @throws Problem that says what is wrong
 */
export function readFilter(query: URLSearchParams, others: readonly string[] = []): DeliveryFilter {
  knownOnly(query, [...FILTER_NAMES, ...others]);
  const { search, event, state, shop, since, until } = Object.fromEntries(
    FILTER_NAMES.map((name) => [name, query.get(name) || undefined]),
  );
  if (search !== undefined && search.length > LONGEST_SEARCH) {
    throw badQuery(`search has ${search.length} characters, and may have ${LONGEST_SEARCH}`);
  }
  const filter = {
    search,
    event,
    states: state === undefined ? undefined : readStates(state),
    shop,
    since: readTime('since', since),
    until: readTime('until', until),
  };
  if (filter.since !== undefined && filter.until !== undefined && filter.until <= filter.since) {
    throw badQuery('until must be after since');
  }
  return filter;
}

/** @throws Problem where a query has a name that is not known, or one twice */
export function knownOnly(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (!names.includes(name)) {
      const known = names.length > 0 ? `; known are ${names.join(', ')}` : '';
      throw badQuery(`${JSON.stringify(name)} is not known here${known}`);
    }
    if (query.getAll(name).length > 1) throw badQuery(`${name} stands there more than once`);
  }
}

/** Reads a whole number of a query. @throws Problem where it is none of that range */
export function readNumber(
  query: URLSearchParams,
  name: string,
  { minimum, maximum, otherwise }: { minimum: number; maximum: number; otherwise: number },
): number {
  const text = query.get(name) || String(otherwise);
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value >= minimum && value <= maximum) return value;
  throw badQuery(`${name} must be a whole number from ${minimum} to ${maximum}`);
}

function readStates(text: string): ReadonlySet<State> {
  return new Set(
    text.split(',').map((word) => {
      if (!isState(word)) throw badQuery(`state must be of ${states.join(', ')}; several joined by commas`);
      return word;
    }),
  );
}

function readTime(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  try {
    return time(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw badQuery(`${name}: ${error.message}`);
  }
}
