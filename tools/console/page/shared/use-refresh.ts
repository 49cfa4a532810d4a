import { useEffect } from 'preact/hooks';
import type { Loaded } from './use-load.ts';

/** Between two looks at what is local, in milliseconds; reading a stage costs, and is left to whoever looks. */
export const REFRESH = 2_000;

/**
 * Loads anew so long after each answer, while the page is seen; one that comes back into view, at once.
 * @param milliseconds undefined where it is not to be refreshed
 */
export function useRefresh({ loading, reload }: Loaded<unknown>, milliseconds: number | undefined): void {
  useEffect(() => {
    if (loading || milliseconds === undefined) return;
    const onSeen = () => document.hidden || reload();
    const timer = setTimeout(() => {
      if (document.hidden) document.addEventListener('visibilitychange', onSeen);
      else reload();
    }, milliseconds);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onSeen);
    };
  }, [loading, reload, milliseconds]);
}
