import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { MAX_PAUSE_REASON_LENGTH } from '../../../../lambda/limits.ts';
import { Button, IconButton } from './button.tsx';

/**
 * A modal dialog. The browser traps the focus and restores it later. The first field gets the focus, or the
 * first action if there is no field.
 */
export function Dialog({ title, onClose, onKeyDown, actions, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const open = () => {
    element.current?.showModal();
    element.current?.querySelector<HTMLElement>(FIRST)?.focus();
  };
  // A layout effect: other effects clean up after the removal, when the browser cannot restore the focus.
  useLayoutEffect(() => {
    open();
    return () => element.current?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={heading}
      onKeyDownCapture={onKeyDown}
      // Safari does not support this attribute: a click outside the dialog does nothing there.
      closedby="any"
      // The dialog does not close itself: its parent removes it, perhaps after a question.
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A browser closes a dialog that has refused to close several times. Then it is opened again.
      onClose={() => element.current?.isConnected && open()}
    >
      <header class="row nowrap">
        <h2 id={heading} class="grow">
          {title}
        </h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      <div class="scrolled stack">{children}</div>
      {actions !== undefined && <footer class="row end">{actions}</footer>}
    </dialog>
  );
}

interface DialogProps {
  title: string;
  /** Called when the user closes the dialog: by Escape, its button, or a click outside it. */
  onClose: () => void;
  /** Called before the focused element gets the key. */
  onKeyDown?: (event: KeyboardEvent) => void;
  /** Buttons at the bottom of the dialog, the main action last. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** The open dialog. While a dialog is open, shortcuts of the page behind it are inactive. */
export const openDialog = () => document.querySelector('dialog[open]');

const FIRST = ':is(.scrolled :is(input, select), footer button)';

interface ReasonDialogProps {
  title: string;
  text: string;
  action: string;
  onReason: (reason: string) => void;
  onClose: () => void;
}

/** Asks for the reason of an action, which others will read. */
export function ReasonDialog({ title, text, action, onReason, onClose }: ReasonDialogProps) {
  const id = useId();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={id}>
            {action}
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="stack"
        onSubmit={(submit) => {
          submit.preventDefault();
          onReason(String(new FormData(submit.currentTarget).get('reason')));
          onClose();
        }}
      >
        <p>{text}</p>
        <label class="labelled">
          Reason, in one line
          <input
            class="field"
            name="reason"
            placeholder="The chat service is down until noon"
            maxLength={MAX_PAUSE_REASON_LENGTH}
            autoComplete="off"
            required
          />
        </label>
      </form>
    </Dialog>
  );
}
