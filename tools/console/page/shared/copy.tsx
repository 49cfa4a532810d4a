import { useEffect, useState } from 'preact/hooks';
import { showToast } from '../shell/toasts.tsx';
import { errorText } from './error-text.ts';
import { Icon } from './icon.tsx';

/** How long the button says that it has copied. */
const SAID_MS = 1_500;

/** Copies a text. @param label what it is, for a screen reader: `Copy event id` */
export function Copy({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      class={`copy${copied ? ' is-copied' : ''}`}
      aria-label={copied ? 'Copied' : label}
      title={copied ? 'Copied' : label}
      onClick={async () => setCopied(await copyText(text))}
    >
      <Icon name={copied ? 'check' : 'copy'} />
    </button>
  );
}

/**
 * Copies a text; where that fails it says so.
 * @param text may still come: Safari allows a copy only where it begins with the click
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
    showToast({ level: 'error', text: `Nothing was copied: ${errorText(error)}` });
    return false;
  }
}
