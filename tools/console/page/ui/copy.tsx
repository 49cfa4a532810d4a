import { useEffect, useState } from 'preact/hooks';
import { errorText } from '../api.ts';
import { IconButton } from './button.tsx';
import { toastError } from './notices.tsx';

/** Milliseconds for which the button shows that it has copied. */
const SAID_MS = 1_500;

/** @param label what it copies: `Copy the event id` */
export function Copy({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      class={copied ? 'copy is-copied' : 'copy'}
      icon={copied ? 'check' : 'copy'}
      label={copied ? 'Copied' : label}
      onClick={async () => setCopied(await copyText(text))}
    />
  );
}

/** Characters of a hash or a UUID that are enough to recognise it. */
const SHORT_ID_LENGTH = 8;

export const shortId = (id: string) => id.slice(0, SHORT_ID_LENGTH);

/**
 * Copies a text. A toast reports an error.
 * @param text may be a promise: Safari allows a copy only if it starts during the click
 * @returns whether it was copied
 */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  try {
    if (typeof text === 'string') {
      await navigator.clipboard.writeText(text);
    } else {
      const blob = text.then((known) => new Blob([known], { type: 'text/plain' }));
      await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
    }
    return true;
  } catch (error) {
    toastError(`Not copied: ${errorText(error)}`);
    return false;
  }
}
