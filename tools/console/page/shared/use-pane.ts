import { useLayoutEffect, useRef } from 'preact/hooks';
import { useKeys } from '../shell/use-keys.ts';

/** Milliseconds after which the list is there again, and nothing else has taken the focus. */
const GIVEN_BACK_AFTER = 50;

/**
 * What is opened beside a list: it takes the focus, gives it back to the row that it was opened by, and Escape closes it.
 * @param list address of the list without it
 * @param row address by which it was opened
 * @returns of its heading
 */
export function usePane(list: string, row: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  useKeys({
    Escape: () => {
      location.hash = list;
    },
  });
  // Of layout: other effects are cleaned up once the pane is gone, and the focus with it.
  useLayoutEffect(() => {
    const pane = heading.current?.closest('section');
    heading.current?.focus();
    return () => {
      if (!pane?.contains(document.activeElement)) return;
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        document.querySelector<HTMLElement>(`a[href="${CSS.escape(row)}"]`)?.focus();
      }, GIVEN_BACK_AFTER);
    };
  }, [row]);
  return heading;
}
