import { signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { connection, notices } from '../store.ts';
import { Button, IconButton } from './button.tsx';
import { useNextFocus } from './use-next-focus.ts';

/** Result of an action, in a corner. */
export interface Toast {
  readonly text: string;
  /** An info closes itself. An error stays until it is closed. */
  readonly level: 'info' | 'error' | 'running';
  /** The output of the commands. */
  readonly lines?: readonly string[];
  readonly link?: { readonly text: string; readonly to: string };
  /** Interrupts what runs. */
  readonly cancel?: () => void;
}

/**
 * Notices of the server, and toasts about actions. They are in a corner, where they do not move other
 * content.
 */
export function Notices() {
  /** Notices that the user has closed. Each new stream sends all notices again. */
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const refused = connection.value.state === 'refused' ? connection.value.reason : undefined;
  return (
    <div
      id={CORNER}
      class="notices stack"
      role="status"
      onPointerMove={() => {
        movedAt = Date.now();
      }}
    >
      {refused !== undefined && <NoticeBox level="error" text={refused} />}
      {notices.value
        .filter(({ text }) => !closed.value.has(text))
        .map(({ about, level, text }) => (
          <NoticeBox
            key={about}
            level={level}
            text={text}
            onClose={() => {
              closed.value = new Set([...closed.value, text]);
            }}
          />
        ))}
      {toasts.value.map(({ id, ...shown }) => (
        <NoticeBox key={id} {...shown} onClose={() => closeToast(id)} />
      ))}
    </div>
  );
}

const CORNER = 'notices';

/** Milliseconds for which an info is shown. */
const SHOWN_MS = 6_000;

/** Maximum number of infos. */
const MAX_INFOS = 3;

/** Toasts, the newest last. */
const toasts = signal<readonly (Toast & { readonly id: number })[]>([]);
let lastId = 0;

export const closeToast = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/**
 * Adds a toast. A repeated text replaces its earlier toast. If there are too many infos, the oldest goes.
 * @param replaced id of a toast that this one replaces
 * @returns its id
 */
export function toast(shown: Toast, replaced?: number): number {
  if (replaced !== undefined) {
    toasts.value = toasts.value.map((other) => (other.id === replaced ? { ...shown, id: replaced } : other));
    if (shown.level === 'info') closeLater(replaced);
    return replaced;
  }
  lastId += 1;
  const id = lastId;
  const others = toasts.value.filter(({ level, text }) => level !== shown.level || text !== shown.text);
  const infos = others.filter(({ level }) => level === 'info');
  const tooOld = infos.slice(0, Math.max(0, infos.length + 1 - MAX_INFOS));
  toasts.value = [...others.filter((other) => !tooOld.includes(other)), { ...shown, id }];
  if (shown.level === 'info') closeLater(id);
  return id;
}

export const toastInfo = (text: string) => toast({ level: 'info', text });
export const toastError = (text: string) => toast({ level: 'error', text });

/**
 * When the pointer last moved over the corner, in milliseconds. A pointer over the corner keeps toasts open,
 * but not one that was at rest when a toast appeared under it.
 */
let movedAt = 0;

function closeLater(id: number): void {
  setTimeout(() => {
    const isRead = document.querySelector(`#${CORNER}:is(:focus-within, :has([open]))`) !== null;
    if (isRead || Date.now() - movedAt < SHOWN_MS) closeLater(id);
    else closeToast(id);
  }, SHOWN_MS);
}

function NoticeBox({ level, text, lines = [], link, cancel, onClose }: Toast & { onClose?: () => void }) {
  const own = useRef<HTMLDivElement>(null);
  useNextFocus(
    own,
    () => () => document.querySelector<HTMLElement>('#detail') ?? document.querySelector('#main'),
  );
  return (
    <div ref={own} class={`notice is-${level}`}>
      <p>{text}</p>
      {link !== undefined && (
        <a href={link.to} onClick={onClose}>
          {link.text}
        </a>
      )}
      {cancel !== undefined && (
        <Button kind="quiet" onClick={cancel}>
          Interrupt
        </Button>
      )}
      {onClose !== undefined && level !== 'running' && (
        <IconButton icon="close" label="Close this notice" onClick={onClose} />
      )}
      {lines.length > 0 && (
        <details>
          <summary>Output</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
          <pre class="command scrolled" tabIndex={0}>
            {lines.join('\n')}
          </pre>
        </details>
      )}
    </div>
  );
}
