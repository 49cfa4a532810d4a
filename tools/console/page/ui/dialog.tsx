import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './button.tsx';

interface DialogProps {
  title: string;
  /** Called when it is closed, by whatever: Escape, its button, a click beside it. */
  onClose: () => void;
  /** Buttons below, the one that does it last. */
  actions?: ComponentChildren;
  width?: 'narrow' | 'wide';
  children: ComponentChildren;
}

/** Where the focus begins: the first of these that there is. */
const FIRST = ['.dialog-body :is(input, select, textarea)', '.dialog-actions button'];

/**
 * A modal dialog. The browser holds the focus within it, and gives it back. It begins on what can be
 * filled in, else on the first of its actions.
 */
export function Dialog({ title, onClose, actions, width = 'narrow', children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  /** A selection that is dragged out of a field ends in a click on the backdrop, too. */
  const isPressed = useRef(false);
  // Of layout: other effects are cleaned up once the dialog is gone, and it would not give the focus back.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    FIRST.map((selector) => dialog?.querySelector<HTMLElement>(selector))
      .find((found) => found instanceof HTMLElement)
      ?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog dialog-${width}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A browser closes a dialog that has kept itself open several times.
      onClose={() => element.current?.isConnected && element.current.showModal()}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
      onPointerDown={(event) => {
        isPressed.current = event.target === element.current;
      }}
      onClick={(event) => {
        if (event.target === element.current && isPressed.current) onClose();
      }}
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
