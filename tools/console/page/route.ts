import { effect, signal } from '@preact/signals';

/** The parsed address of the page: `#/deliveries/<id>?search=…`. */
interface Route {
  readonly view: ViewName;
  /** Parts of the address after the view's name: the id of a delivery. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export const VIEWS = ['deliveries', 'needs-you', 'queues'] as const;
export type ViewName = (typeof VIEWS)[number];

/** @param hash with its `#`. An unknown view opens the deliveries. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [name = '', ...rest] = path.split('/').map(decode);
  const view = VIEWS.find((known) => known === name);
  if (view === undefined) return { view: 'deliveries', path: [], query: {} };
  return {
    view,
    path: rest.filter((part) => part !== ''),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The address of a route, without empty query values. */
export function formatRoute({ view, path = [], query = {} }: { view: ViewName } & Partial<Route>): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  const parts = [view, ...path].map(encodeURIComponent).join('/');
  return `#/${parts}${parameters.size > 0 ? `?${parameters}` : ''}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = signal<Route>({ view: 'deliveries', path: [], query: {} });

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
