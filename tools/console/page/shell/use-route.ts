import { useEffect, useState } from 'preact/hooks';
import { formatRoute, parseRoute, type Route, type ViewName } from './route.ts';

/** The route of the page's address at this moment: what was drawn may be of the one before. */
export const currentRoute = (): Route => parseRoute(location.hash);

/** The route of the page's address, as it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const update = () => setRoute(currentRoute());
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
