import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { connection, notices } from '../store.ts';
import { IconButton } from './button.tsx';

interface Toast {
  readonly text: string;
  readonly level: 'info' | 'error';
  /** Where to see more. */
  readonly link?: { readonly text: string; readonly href: string };
}

/** Milliseconds. A toast about an error stays until it is closed. */
const SHOWN_MS = 6_000;

const toast = signal<Toast | undefined>(undefined);

/** Shows the result of an action in the corner. A newer toast replaces it. */
export function showToast(next: Toast): void {
  toast.value = next;
}

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
      {refused !== undefined && (
        <div class="notice is-error">
          <p>{refused}</p>
        </div>
      )}
      {notices.value
        .filter(({ text }) => !closed.has(text))
        .map(({ about, level, text }) => (
          <div key={about} class={`notice is-${level}`}>
            <p>{text}</p>
            <IconButton
              icon="close"
              label="Close this notice"
              onClick={() => setClosed(new Set([...closed, text]))}
            />
          </div>
        ))}
      {current !== undefined && (
        <div class={`notice is-${current.level}`}>
          <p>{current.text}</p>
          {current.link !== undefined && <a href={current.link.href}>{current.link.text}</a>}
          <IconButton
            icon="close"
            label="Close"
            onClick={() => {
              toast.value = undefined;
            }}
          />
        </div>
      )}
    </div>
  );
}
