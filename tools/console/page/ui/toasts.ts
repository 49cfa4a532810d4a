import { signal } from '@preact/signals';
import type { Notice } from '../../api.ts';

/** Result of an action, or a notice of the server, in a corner. */
export interface Toast {
  readonly text: string;
  /** An info closes itself. An error stays until it is closed. */
  readonly level: 'info' | 'error';
  /** What it is about. A newer toast with the same subject replaces it. @default its text */
  readonly about?: string;
  /** The output of the commands. */
  readonly lines?: readonly string[];
}

/** Id of the corner in which they are shown. */
export const CORNER = 'notices';

/** Milliseconds for which an info is shown. */
const SHOWN_MS = 6_000;

/** Toasts, the newest last. */
export const toasts = signal<readonly Toast[]>([]);

export const subjectOf = ({ about, text }: Toast) => about ?? text;

export function closeToast(about: string): void {
  toasts.value = toasts.value.filter((other) => subjectOf(other) !== about);
}

export function toast(shown: Toast): void {
  closeToast(subjectOf(shown));
  toasts.value = [...toasts.value, shown];
  if (shown.level === 'info') closeLater(shown);
}

export const toastInfo = (text: string) => toast({ level: 'info', text });
export const toastError = (text: string) => toast({ level: 'error', text });

/** Texts of the server's notices that the user has closed. Each new stream sends them again. */
export const closed = new Set<string>();

export function takeNotice(notice: Notice): void {
  if (!closed.has(notice.text)) toast(notice);
}

function closeLater(shown: Toast): void {
  setTimeout(() => {
    const isRead = document.querySelector(`#${CORNER}:is(:focus-within, :hover, :has([open]))`) !== null;
    if (isRead) closeLater(shown);
    else toasts.value = toasts.value.filter((other) => other !== shown);
  }, SHOWN_MS);
}
