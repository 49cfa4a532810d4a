import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../shared/icon.tsx';

interface Toast {
  readonly text: string;
  readonly level: 'info' | 'error';
  /** Where to see it. */
  readonly link?: { readonly text: string; readonly href: string };
}

/** How long a toast stays; one that tells of an error stays until it is closed. */
const SHOWN_MS = 6_000;

let tell: (toast: Toast) => void = () => {};

/** Says in the corner what came of something that somebody did. */
export const showToast = (toast: Toast): void => tell(toast);

/** The last toast: a newer one takes its place. */
export function Toasts() {
  const [toast, setToast] = useState<Toast>();
  useEffect(() => {
    tell = setToast;
    return () => {
      tell = () => {};
    };
  }, []);
  useEffect(() => {
    if (toast === undefined || toast.level === 'error') return;
    const timer = setTimeout(setToast, SHOWN_MS, undefined);
    return () => clearTimeout(timer);
  }, [toast]);
  return (
    <div class="toasts" role="status">
      {toast !== undefined && (
        <div class={`notice is-${toast.level}`}>
          <p>{toast.text}</p>
          {toast.link !== undefined && (
            <a class="notice-link" href={toast.link.href} onClick={() => setToast(undefined)}>
              {toast.link.text}
            </a>
          )}
          <button type="button" class="icon-button" aria-label="Close" onClick={() => setToast(undefined)}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}
