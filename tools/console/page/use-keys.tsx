import { useEffect, useRef, useState } from 'preact/hooks';
import { stack } from './store.ts';
import { Dialog, openDialog } from './ui/dialog.tsx';
import { CheckBox } from './ui/field.tsx';

/** Shortcuts of the whole page. Inactive in a field, while a dialog is open, or with a modifier key. */
export function useKeys(keys: KeyActions): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const act = Object.hasOwn(current.current, event.key) ? current.current[event.key] : undefined;
      if (act === undefined || !isShortcut(event)) return;
      if (act(event) !== false) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Actions by `KeyboardEvent.key`. If an action returns false, the browser handles the key itself. */
type KeyActions = Readonly<Record<string, ((event: KeyboardEvent) => boolean | undefined) | (() => void)>>;

/** Keys that repeat while held. All others act once per press: a held `r` sends one delivery. */
const REPEATED: ReadonlySet<string> = new Set(['j', 'k', 'ArrowDown', 'ArrowUp']);

const KEEPER = 'console-single-keys';

/** Speech input could trigger shortcuts of one character by accident, so they can be turned off (WCAG 2.1.4). */
const hasSingleKeys = () => localStorage.getItem(KEEPER) !== 'off';

function isShortcut(event: KeyboardEvent): boolean {
  const { key, target, repeat } = event;
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey)
    return false;
  if (key.length === 1 && !hasSingleKeys()) return false;
  if (repeat && !REPEATED.has(key)) return false;
  return !isTyping(target) && openDialog() === null;
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]');

interface KeyGroup {
  readonly title: string;
  readonly keys: readonly (readonly [keys: string, does: string])[];
}

const groups = (): readonly KeyGroup[] => [
  {
    title: 'Everywhere',
    keys: [
      [stack.local ? '1 – 6' : '1 – 5', 'Views, from left to right'],
      ['/', 'Search deliveries'],
      ['?', 'This help'],
      ['Escape', 'Close, or back to the list'],
    ],
  },
  {
    title: 'List of deliveries',
    keys: [
      ['j k', 'Next, previous'],
      ['Home End', 'Newest, oldest'],
      ['Enter', 'Go to the detail'],
      ['Space', 'Select for resend or redrive'],
      ['n', 'Go to the newest and follow'],
    ],
  },
  {
    title: 'Delivery',
    keys: [
      ['r', 'Resend'],
      ['e', 'Edit and send'],
      ['c', 'Copy as curl'],
      ['l', 'Copy a link'],
      ['[ ]', 'Previous tab, next tab'],
    ],
  },
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  const [isOn, setIsOn] = useState(hasSingleKeys);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} width="wide">
      <div class="columns">
        {groups().map(({ title, keys }) => (
          <section key={title} class="stack">
            <h3>{title}</h3>
            <dl class="facts">
              {keys.map(([names, does]) => (
                <div key={names}>
                  <dt>
                    {names.split(' ').map((name) => (
                      <kbd key={name}>{name}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <CheckBox
        checked={isOn}
        onChange={(checked) => {
          if (checked) localStorage.removeItem(KEEPER);
          else localStorage.setItem(KEEPER, 'off');
          setIsOn(checked);
        }}
      >
        Single-key shortcuts
      </CheckBox>
    </Dialog>
  );
}
