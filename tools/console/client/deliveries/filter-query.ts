import type { DeliveryFilter } from '../../api.ts';

const FILTERS = [
  'search',
  'event',
  'state',
  'shop',
  'since',
  'until',
] as const satisfies (keyof DeliveryFilter)[];

/** The filter that an address of the page has, without what is empty. */
export function filterOf(query: Readonly<Record<string, string>>): DeliveryFilter {
  return Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = query[name]?.trim() ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );
}

/** The filter of an address as the server takes it: always in the same order, so that equal ones are equal. */
export function streamQuery(query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(Object.entries(filterOf(query)));
  return parameters.size > 0 ? `?${parameters}` : '';
}
