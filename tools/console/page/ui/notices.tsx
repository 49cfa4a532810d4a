import { signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { connection, notices } from '../store.ts';
import { Button, IconButton } from './button.tsx';
import { useNextFocus } from './use-next-focus.ts';

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
      {toasts.value.map((toast) => (
        <NoticeBox key={toast.id} {...toast} onClose={() => closeToast(toast.id)} />
      ))}
    </div>
  );
}

const CORNER = 'notices';

interface ToastAction {
  readonly text: string;
  /** A link to open, or a function to call. */
  readonly to: string | (() => void);
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly level: 'info' | 'error';
  readonly action?: ToastAction | undefined;
}

/** Milliseconds for which a toast is shown if it is not an error. */
const SHOWN_MS = 6_000;

/** Maximum number of toasts that are not errors. */
const MAX_INFOS = 3;

/** Toasts, the newest last. */
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

const closeToast = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/**
 * Adds a toast. A repeated text replaces its earlier toast. If there are too many toasts, the oldest that is no error
 * goes.
 */
function addToast(toast: Omit<Toast, 'id'>): number {
  lastId += 1;
  const others = toasts.value.filter(({ level, text }) => level !== toast.level || text !== toast.text);
  const infos = others.filter(({ level }) => level === 'info');
  const tooOld = infos.slice(0, Math.max(0, infos.length + 1 - MAX_INFOS));
  toasts.value = [...others.filter((other) => !tooOld.includes(other)), { ...toast, id: lastId }];
  return lastId;
}

/**
 * Shows the result of an action for some seconds.
 * @param level `error` only colours the toast: details of the error are shown elsewhere
 */
export function toastInfo(text: string, action?: ToastAction, level: Toast['level'] = 'info'): void {
  closeLater(addToast({ level, text, action }));
}

/** Shows an error until the user closes it. */
export function toastError(text: string): void {
  addToast({ level: 'error', text });
}

/**
 * Shows that something runs, until the returned function is called.
 * @returns a function that closes the toast
 */
export function toastRunning(text: string, action: ToastAction): () => void {
  const id = addToast({ level: 'info', text, action });
  return () => closeToast(id);
}

/**
 * When the pointer last moved over the corner, in milliseconds. A pointer over the corner keeps toasts open,
 * but not one that was at rest when a toast appeared under it.
 */
let movedAt = 0;

function closeLater(id: number): void {
  setTimeout(() => {
    const hasFocus = document.querySelector(`#${CORNER}:focus-within`) !== null;
    if (hasFocus || Date.now() - movedAt < SHOWN_MS) closeLater(id);
    else closeToast(id);
  }, SHOWN_MS);
}

interface NoticeBoxProps extends Pick<Toast, 'level' | 'text' | 'action'> {
  onClose?: () => void;
}

function NoticeBox({ level, text, action, onClose }: NoticeBoxProps) {
  const { to } = action ?? {};
  const own = useRef<HTMLDivElement>(null);
  useNextFocus(
    own,
    () => () => document.querySelector<HTMLElement>('#detail') ?? document.querySelector('#main'),
  );
  return (
    <div ref={own} class={`notice is-${level}`}>
      <p>{text}</p>
      {typeof to === 'string' && (
        <a href={to} onClick={onClose}>
          {action?.text}
        </a>
      )}
      {typeof to === 'function' && (
        <Button
          kind="quiet"
          onClick={() => {
            to();
            onClose?.();
          }}
        >
          {action?.text}
        </Button>
      )}
      {onClose !== undefined && <IconButton icon="close" label="Close this notice" onClick={onClose} />}
    </div>
  );
}
