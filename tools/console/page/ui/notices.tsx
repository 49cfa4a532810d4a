import { signal, useSignal } from '@preact/signals';
import { connection, notices } from '../store.ts';
import { Button, IconButton } from './button.tsx';

/** Messages of the server and of actions, in a corner where they do not move other content. */
export function Notices() {
  /** Each new stream sends the same notices again. */
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
  /** A link, or what a button does. */
  readonly to: string | (() => void);
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly level: 'info' | 'error';
  readonly action?: ToastAction | undefined;
}

/** Milliseconds. */
const SHOWN_MS = 6_000;

/** Maximum number of toasts that are not errors. */
const MAX_INFOS = 3;

/** Newest last. */
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

const closeToast = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** The same text is shown once. No other toast replaces an error. */
function addToast(toast: Omit<Toast, 'id'>): number {
  lastId += 1;
  const others = toasts.value.filter(({ level, text }) => level !== toast.level || text !== toast.text);
  const infos = others.filter(({ level }) => level === 'info');
  const tooOld = infos.slice(0, Math.max(0, infos.length + 1 - MAX_INFOS));
  toasts.value = [...others.filter((other) => !tooOld.includes(other)), { ...toast, id: lastId }];
  return lastId;
}

/** Shows the result of an action in the corner, for some seconds. @param level `error`: it is seen elsewhere, too */
export function toastInfo(text: string, action?: ToastAction, level: Toast['level'] = 'info'): void {
  closeLater(addToast({ level, text, action }));
}

/** Stays until it is closed. */
export function toastError(text: string): void {
  addToast({ level: 'error', text });
}

/** @returns closes it: until then it stays */
export function toastRunning(text: string, action: ToastAction): () => void {
  const id = addToast({ level: 'info', text, action });
  return () => closeToast(id);
}

/** When the pointer last moved over the corner. A toast that appears under a pointer at rest must not stay. */
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
  return (
    <div class={`notice is-${level}`}>
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
