import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Milliseconds until the page is drawn again. Then the focus moves on, unless something else has taken it. */
const MOVED_AFTER = 50;

/**
 * Moves the focus on when an element that contains it is removed. A browser would leave it on the body.
 * @param next called before the removal, for a function that finds the next element after it
 */
export function useNextFocus(
  element: RefObject<HTMLElement | null>,
  next: (removed: HTMLElement) => () => HTMLElement | null | undefined,
): void {
  // A layout effect, because other effects are cleaned up after the removal.
  useLayoutEffect(() => {
    const removed = element.current;
    return () => {
      if (!removed?.contains(document.activeElement)) return;
      const find = next(removed);
      setTimeout(() => {
        if (document.activeElement === document.body) find()?.focus();
      }, MOVED_AFTER);
    };
  }, []);
}
