import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { CheckBox } from './ui/button.tsx';
import { Dialog, openDialog } from './ui/dialog.tsx';

const VIEW = 'Views, left to right';
const NEXT = 'Next';
const PREVIOUS = 'Previous';

/** Text of each shortcut, by part of the page and `KeyboardEvent.key`. The help shows this table. */
const SHORTCUTS = {
  page: {
    title: 'Everywhere',
    keys: {
      '1': VIEW,
      '2': VIEW,
      '3': VIEW,
      '/': 'Search deliveries',
      '?': 'This help',
    },
  },
  list: {
    title: 'List of deliveries',
    keys: {
      j: NEXT,
      ArrowDown: NEXT,
      k: PREVIOUS,
      ArrowUp: PREVIOUS,
      Enter: 'Go to the detail',
      n: 'Go to the newest and follow',
      Escape: 'Close',
    },
  },
  queues: {
    title: 'Queues',
    keys: {
      b: 'Break a service of the local stack',
    },
  },
  delivery: {
    title: 'Delivery',
    keys: {
      r: 'Send, redrive or resume, as the state requires',
      e: 'Edit and send',
      c: 'Copy as curl',
    },
  },
} as const;

type PagePart = keyof typeof SHORTCUTS;
type KeyOf<P extends PagePart> = keyof (typeof SHORTCUTS)[P]['keys'] & string;

/** Handler of a shortcut. If it returns false, the browser handles the key itself. */
type KeyAction = (event: KeyboardEvent) => unknown;

/**
 * Handles the shortcuts of a part of the page, wherever the focus is. Inactive in a text field, while a
 * dialog is open, and with a modifier key.
 */
export function useKeys<P extends PagePart>(part: P, actions: Readonly<Record<KeyOf<P>, KeyAction>>): void {
  const current = useRef(actions);
  current.current = actions;
  // Before the next paint, so that a key works as soon as its button can be seen.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isKeyOf(part, event.key) || !isShortcut(event)) return;
      if (current.current[event.key](event) !== false) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

const isKeyOf = <P extends PagePart>(part: P, key: string): key is KeyOf<P> =>
  Object.hasOwn(SHORTCUTS[part].keys, key);

/**
 * Shortcuts that repeat while the key is held down. The others act once: `r` held down sends only one
 * delivery.
 */
const REPEATED: ReadonlySet<string> = new Set(['j', 'k', 'ArrowDown', 'ArrowUp']);

const STORAGE_KEY = 'console-single-keys';

/**
 * Whether shortcuts of one character are on. Speech input could trigger them by accident, so they can be
 * turned off (WCAG 2.1.4).
 */
const singleKeys = signal(localStorage.getItem(STORAGE_KEY) !== 'off');

function isShortcut(event: KeyboardEvent): boolean {
  const { key, target, repeat, ctrlKey, metaKey, altKey } = event;
  // Keys with a modifier belong to the browser or the system: Alt with an arrow key goes back.
  if (event.defaultPrevented || event.isComposing || ctrlKey || metaKey || altKey) return false;
  if (key.length === 1 && !singleKeys.value) return false;
  if (repeat && !REPEATED.has(key)) return false;
  const isTyping =
    target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
  return !isTyping && openDialog() === null;
}

/** Names of keys in the help, where they differ from `KeyboardEvent.key`. */
const KEY_NAMES: Readonly<Record<string, string>> = { ArrowDown: '↓', ArrowUp: '↑' };

const isHelpOpen = signal(false);

export const showHelp = () => {
  isHelpOpen.value = true;
};

export function KeysDialog() {
  if (!isHelpOpen.value) return null;
  const onClose = () => {
    isHelpOpen.value = false;
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {Object.entries(SHORTCUTS).map(([part, { title, keys }]) => (
        <section key={part} class="stack">
          <h3>{title}</h3>
          <dl class="fields">
            {[...Map.groupBy(Object.entries(keys), ([, does]) => does)].map(([does, same]) => (
              <div key={does}>
                <dt>
                  {same.map(([key]) => (
                    <kbd key={key}>{KEY_NAMES[key] ?? key}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <CheckBox
        checked={singleKeys.value}
        onChange={(checked) => {
          singleKeys.value = checked;
          if (checked) localStorage.removeItem(STORAGE_KEY);
          else localStorage.setItem(STORAGE_KEY, 'off');
        }}
      >
        Single-key shortcuts
      </CheckBox>
    </Dialog>
  );
}
