import { effect, signal } from '@preact/signals';

/** The parsed address of the page: `#/deliveries/<id>?search=…`. */
interface Route {
  readonly view: ViewName;
  /** Of the open delivery. */
  readonly id?: string | undefined;
  readonly query: Readonly<Record<string, string>>;
}

export const VIEWS = ['deliveries', 'needs-you', 'queues'] as const;
export type ViewName = (typeof VIEWS)[number];

/** @param hash with its `#`. An unknown view opens the deliveries. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [name = '', id = ''] = path.split('/').map(decode);
  const view = VIEWS.find((known) => known === name);
  if (view === undefined) return { view: 'deliveries', query: {} };
  return { view, ...(id !== '' && { id }), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a route, without empty query values. */
export function formatRoute({ view, id, query = {} }: { view: ViewName } & Partial<Route>): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return `#/${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${parameters.size > 0 ? `?${parameters}` : ''}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = signal<Route>({ view: 'deliveries', query: {} });

/** The last address of the deliveries, with its filters. Other views link back to it. */
export const deliveriesAddress = signal('#/deliveries');

export function followAddress(): void {
  const read = () => {
    route.value = parseRoute(location.hash);
  };
  read();
  addEventListener('hashchange', read);
  effect(() => {
    if (route.value.view === 'deliveries') deliveriesAddress.value = formatRoute(route.value);
  });
}

/**
 * Opens a route.
 * @param options `replace` adds no entry to the browser's history, for changes on every key press
 */
export function navigate(target: { view: ViewName } & Partial<Route>, { replace = false } = {}): void {
  const address = formatRoute(target);
  if (address === location.hash) return;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  route.value = parseRoute(address);
}

/** Adds filters to those of the view. An empty value removes a filter. Back undoes it. */
export function filterBy(filters: Readonly<Record<string, string>>, options?: { replace: boolean }): void {
  const current = route.peek();
  navigate({ ...current, query: { ...current.query, ...filters } }, options);
}
