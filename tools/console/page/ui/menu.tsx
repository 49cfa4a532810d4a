import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon, KeyHint, refused } from './button.tsx';
import { toastInfo } from './toasts.ts';

export interface MenuItem {
  readonly label: ComponentChildren;
  /** What will happen, in a line below the label. */
  readonly note?: string;
  readonly keyHint?: string;
  /** Why it cannot be chosen, in place of the note. */
  readonly refusal?: string | undefined;
  readonly onChoose: () => void;
}

interface MenuProps {
  /** Content of the button. @default an icon with three dots, which needs `label` */
  button?: ComponentChildren;
  label?: string;
  items: readonly MenuItem[];
}

/** A button that opens a list of buttons. The browser opens and closes it, and returns the focus to the button. */
export function Menu({ button, label, items }: MenuProps) {
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys in the open list are not shortcuts of the page
    <div
      class="menu"
      onKeyDown={(event) => list.current?.matches(':popover-open') && event.stopPropagation()}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget))
          list.current?.hidePopover();
      }}
    >
      <button
        type="button"
        class={button === undefined ? 'button button-quiet' : 'button'}
        popovertarget={id}
        aria-label={label}
        title={label}
      >
        {button ?? <Icon name="more" />}
      </button>
      <ul ref={list} class="menu-items" id={id} popover="auto">
        {items.map(({ label: text, note, keyHint, refusal, onChoose }, index) => (
          <li key={index}>
            <button
              type="button"
              class="row nowrap"
              autofocus={index === 0}
              aria-keyshortcuts={keyHint}
              {...refused(refusal)}
              onClick={() => {
                list.current?.hidePopover();
                if (refusal === undefined) onChoose();
                else toastInfo(refusal);
              }}
            >
              <span>
                {text}
                <span class="hint">{refusal ?? note}</span>
              </span>
              <KeyHint of={keyHint} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
