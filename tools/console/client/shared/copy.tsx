import { useEffect, useState } from 'preact/hooks';
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

/** @returns false where the browser does not allow it */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
