import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { connection, notices } from '../store.ts';
import { IconButton } from './button.tsx';

/** Messages of the server and of actions, in a corner where they do not move other content. */
export function Notices() {
  /** Each new stream sends the same notices again. */
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const current = toast.value;
  useEffect(() => {
    if (current?.level !== 'info') return;
    const timer = setTimeout(() => {
      toast.value = undefined;
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [current]);
  const refused = connection.value.state === 'refused' ? connection.value.reason : undefined;
  return (
    <div class="notices stack" role="status">
      {refused !== undefined && <NoticeBox level="error">{refused}</NoticeBox>}
      {notices.value
        .filter(({ text }) => !closed.has(text))
        .map(({ about, level, text }) => (
          <NoticeBox key={about} level={level} onClose={() => setClosed(new Set([...closed, text]))}>
            {text}
          </NoticeBox>
        ))}
      {current !== undefined && (
        <NoticeBox
          level={current.level}
          link={current.link}
          onClose={() => {
            toast.value = undefined;
          }}
        >
          {current.text}
        </NoticeBox>
      )}
    </div>
  );
}

interface Toast {
  readonly text: string;
  readonly level: 'info' | 'error';
  readonly link?: { readonly text: string; readonly href: string } | undefined;
}

/** Milliseconds. A toast about an error stays until it is closed. */
const SHOWN_MS = 6_000;

const toast = signal<Toast | undefined>(undefined);

/** Shows the result of an action in the corner. A newer toast replaces it. */
export function toastInfo(text: string, link?: Toast['link']): void {
  toast.value = { level: 'info', text, link };
}

export function toastError(text: string): void {
  toast.value = { level: 'error', text };
}

interface NoticeBoxProps extends Pick<Toast, 'level' | 'link'> {
  onClose?: () => void;
  children: string;
}

const NoticeBox = ({ level, link, onClose, children }: NoticeBoxProps) => (
  <div class={`notice is-${level}`}>
    <p>{children}</p>
    {link !== undefined && <a href={link.href}>{link.text}</a>}
    {onClose !== undefined && <IconButton icon="close" label="Close this notice" onClick={onClose} />}
  </div>
);
