import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { ShortcutKey } from '../shortcuts.ts';
import { KeyHint, refused } from './button.tsx';
import { Icon } from './icon.tsx';
import { toastInfo } from './toasts.ts';

/**
 * A button that opens a menu (WAI-ARIA's menu button). The browser opens and closes the menu, and returns the
 * focus to the button.
 */
export function Menu({ button, label, items }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    if (!menu.current?.matches(':popover-open')) return;
    const all = [...menu.current.querySelectorAll<HTMLElement>('[role="menuitem"]')];
    const active = document.activeElement;
    const index = active instanceof HTMLElement ? all.indexOf(active) : -1;
    const to = {
      ArrowDown: (index + 1) % all.length,
      ArrowUp: (Math.max(index, 0) - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (to !== undefined) {
      all[to]?.focus();
      event.preventDefault();
    }
    // Closing the menu moves the focus to its button, so Tab continues from there.
    if (event.key === 'Tab') menu.current.hidePopover();
    // Keys in the menu are not shortcuts of the page.
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the menu that stands within
    <div class="menu" onKeyDown={onKeyDown}>
      <button
        type="button"
        id={`${id}-button`}
        class={button === undefined ? 'icon-button' : 'button'}
        popovertarget={id}
        aria-haspopup="menu"
        aria-label={label}
        title={label}
      >
        {button ?? <Icon name="more" />}
      </button>
      <div
        ref={menu}
        class="menu-items"
        role="menu"
        aria-labelledby={`${id}-button`}
        id={id}
        popover="auto"
        onToggle={({ newState }) => {
          // The `toggle` event is late: a key may already have moved the focus into the menu.
          if (newState !== 'open' || menu.current?.contains(document.activeElement)) return;
          menu.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
        }}
      >
        {items.map(({ label: text, note, keyHint, refusal, onChoose }, index) => (
          <button
            key={index}
            type="button"
            role="menuitem"
            tabIndex={-1}
            aria-keyshortcuts={keyHint}
            {...refused(refusal)}
            onClick={() => {
              menu.current?.hidePopover();
              if (refusal === undefined) onChoose();
              else toastInfo(refusal);
            }}
          >
            <span>
              {text}
              {note !== undefined && <span class="hint">{note}</span>}
            </span>
            <KeyHint of={keyHint} />
          </button>
        ))}
      </div>
    </div>
  );
}

export interface MenuItem {
  readonly label: ComponentChildren;
  /** What will happen, in a line below the label. */
  readonly note?: string;
  readonly keyHint?: ShortcutKey;
  readonly refusal?: string | undefined;
  readonly onChoose: () => void;
}

interface MenuProps {
  /** Content of the button. @default an icon with three dots, which needs `label` */
  button?: ComponentChildren;
  label?: string;
  items: readonly MenuItem[];
}
