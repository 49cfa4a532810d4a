import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './button.tsx';

/**
 * A modal dialog. The browser traps the focus and restores it. Initially it is on the first field, otherwise on the
 * first action.
 */
export function Dialog({ title, onClose, actions, width = 'narrow', children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const open = () => {
    element.current?.showModal();
    element.current?.querySelector<HTMLElement>(FIRST)?.focus();
  };
  // A layout effect, because other effects are cleaned up after the dialog is removed, and then it could not restore
  // the focus.
  useLayoutEffect(() => {
    open();
    return () => element.current?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog dialog-${width}`}
      aria-labelledby={heading}
      // Safari does not know this attribute: there a click outside closes nothing.
      closedby="any"
      // Only the parent closes it, by removing it: it may ask first.
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A browser closes a dialog that has refused to close several times.
      onClose={() => element.current?.isConnected && open()}
    >
      <div class="dialog-frame">
        <header class="dialog-head row">
          <h2 id={heading}>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        <div class="dialog-body stack">{children}</div>
        {actions !== undefined && <footer class="dialog-actions row">{actions}</footer>}
      </div>
    </dialog>
  );
}

interface DialogProps {
  title: string;
  /** Called however the user closes the dialog: Escape, its button, or a click outside it. */
  onClose: () => void;
  /** Buttons at the bottom, the main action last. */
  actions?: ComponentChildren;
  width?: 'narrow' | 'wide' | 'full';
  children: ComponentChildren;
}

/** The dialog that is open. Shortcuts of the page behind it do nothing. */
export const openDialog = () => document.querySelector('dialog[open]');

const FIRST = ':is(.dialog-body :is(input, select, textarea), .dialog-actions button)';
