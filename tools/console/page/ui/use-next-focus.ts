import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Milliseconds until the page is drawn again. Then the focus moves, unless another element has taken the focus. */
const FOCUS_DELAY = 50;

/**
 * Moves the focus to another element when the element with the focus is removed. A browser would leave it on
 * the body.
 * @param next called before the removal. Returns a function that finds the next element after it
 */
export function useNextFocus(
  element: RefObject<HTMLElement | null>,
  next: (removed: HTMLElement) => () => HTMLElement | null | undefined,
): void {
  // A layout effect, because other effects run their cleanup after the removal.
  useLayoutEffect(() => {
    const removed = element.current;
    return () => {
      if (!removed?.contains(document.activeElement)) return;
      const find = next(removed);
      setTimeout(() => {
        if (document.activeElement === document.body) find()?.focus();
      }, FOCUS_DELAY);
    };
  }, []);
}
