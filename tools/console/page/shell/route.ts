/** What an address of the page says: `#/deliveries/<id>?search=…`. */
export interface Route {
  readonly view: ViewName;
  /** What follows the view's name: a delivery's id, a table's name. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export const VIEWS = ['deliveries', 'queues', 'tables', 'faults'] as const;
export type ViewName = (typeof VIEWS)[number];

/** @param hash with its `#`; what is no view's leads to the deliveries */
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

/** The address of a route; empty values of its query are left out. */
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
