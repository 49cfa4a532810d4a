import { useEffect, useState } from 'preact/hooks';
import { formatRoute, parseRoute, type Route, type ViewName } from './route.ts';

/** The route of the page's address, as it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const update = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return route;
}

/** Goes to a route. `replace` leaves no step to go back to: for what changes with every key. */
export function navigate(route: { view: ViewName } & Partial<Route>, { replace = false } = {}): void {
  const address = formatRoute(route);
  if (address === location.hash) return;
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(null, '', address);
  dispatchEvent(new HashChangeEvent('hashchange'));
}
