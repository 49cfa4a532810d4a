import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { KeyHint } from './button.tsx';
import { Refusal } from './refusal.tsx';

/** A button with a menu (WAI-ARIA's menu button). */
export function Menu({ button, label, class: className = 'button', items }: MenuProps) {
  const [open, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    element.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
    const onPress = ({ target }: Event) => {
      if (target instanceof Node && !element.current?.contains(target)) setOpen(false);
    };
    addEventListener('pointerdown', onPress);
    return () => removeEventListener('pointerdown', onPress);
  }, [open]);
  const close = () => {
    setOpen(false);
    trigger.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const all = [...(element.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
    const active = document.activeElement;
    const index = active instanceof HTMLElement ? all.indexOf(active) : -1;
    const to = {
      ArrowDown: (index + 1) % all.length,
      ArrowUp: (index - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (event.key === 'Escape') close();
    else if (event.key === 'Tab') setOpen(false);
    else if (to !== undefined) all[to]?.focus();
    if (event.key === 'Escape' || to !== undefined) event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the menu that stands within
    <div class="menu" ref={element} onKeyDown={onKeyDown}>
      <button
        ref={trigger}
        type="button"
        class={className}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open && (
        <div class="menu-items" role="menu" id={id}>
          {items.map(({ label: text, keyHint, refusal, onChoose }, index) => (
            <button
              key={index}
              type="button"
              role="menuitem"
              tabIndex={-1}
              aria-disabled={refusal !== undefined}
              aria-describedby={refusal === undefined ? undefined : `${id}-${index}`}
              onClick={() => {
                if (refusal !== undefined) return;
                close();
                onChoose();
              }}
            >
              <span>{text}</span>
              <KeyHint of={keyHint} />
              <Refusal id={`${id}-${index}`} text={refusal} />
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

export interface MenuItem {
  readonly label: ComponentChildren;
  readonly keyHint?: string;
  readonly refusal?: string | undefined;
  readonly onChoose: () => void;
}

interface MenuProps {
  button: ComponentChildren;
  label?: string;
  class?: string;
  items: readonly MenuItem[];
}
