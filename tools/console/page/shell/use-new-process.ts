import { useEffect } from 'preact/hooks';

/** Between two looks whether a dialog is still open, in milliseconds. */
const LOOKED_EVERY = 500;

/**
 * Loads the page anew once the local console is another process, which takes no action with the token that this page
 * has. A dialog, and what was written in it, is left until it is closed.
 * @param resets how often the stream said that what there was is not true any more
 */
export function useNewProcess(local: boolean, resets: number): void {
  useEffect(() => {
    if (!local || resets === 0) return;
    const reload = () => {
      if (document.querySelector('dialog[open]') === null) location.reload();
    };
    reload();
    const timer = setInterval(reload, LOOKED_EVERY);
    return () => clearInterval(timer);
  }, [local, resets]);
}
