import { useEffect, useRef } from 'preact/hooks';
import { hasSingleKeys } from './single-keys.ts';

/** What a key does, by `KeyboardEvent.key`. False lets the browser do what it does with it. */
export type Keys = Readonly<Record<string, ((event: KeyboardEvent) => boolean | undefined) | (() => void)>>;

/** What may go on while its key is held. All else is done once for each press: a held `r` is one delivery. */
const REPEATED: ReadonlySet<string> = new Set(['j', 'k', 'ArrowDown', 'ArrowUp']);

/**
 * Keys of the whole page. They rest while somebody types, while a dialog is open, and where a modifier makes them the
 * browser's.
 */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
        return;
      if (event.key.length === 1 && !hasSingleKeys()) return;
      if (event.repeat && !REPEATED.has(event.key)) return;
      if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
      if (current.current[event.key]?.(event) !== false && event.key in current.current)
        event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}
