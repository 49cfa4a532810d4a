import type { DeliveryQuery } from '../../api.ts';

const FILTERS = [
  'search',
  'event',
  'state',
  'shop',
  'since',
  'until',
] as const satisfies (keyof DeliveryQuery)[];

/** The filter that an address of the page has, without what is empty. */
export function filterOf(query: Readonly<Record<string, string>>): DeliveryQuery {
  return Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = query[name]?.trim() ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );
}

/**
 * Whether what a filter admits changes with the clock: `since=15m`. A search is left as it is, as it looks through a
 * stage's archive each time.
 */
export function movesWithTime({ since, until, search }: DeliveryQuery): boolean {
  return search === undefined && [since, until].some((time) => /^\d+[mhd]$/.test(time ?? ''));
}

/** The filter of an address as the server takes it: always in the same order, so that equal ones are equal. */
export function streamQuery(query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(Object.entries(filterOf(query)));
  return parameters.size > 0 ? `?${parameters}` : '';
}
