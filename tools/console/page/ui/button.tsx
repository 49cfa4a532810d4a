import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import type { ShortcutKey } from '../shortcuts.ts';
import { Icon, type IconName } from './icon.tsx';
import { toastInfo } from './toasts.ts';

type ButtonAttributes = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children' | 'label' | 'icon'>;

interface ButtonProps extends ButtonAttributes {
  kind?: 'primary' | 'normal' | 'quiet';
  keyHint?: ShortcutKey | undefined;
  /** Why the button is disabled. A disabled button can still get the focus, and a click shows this reason. */
  refusal?: string | undefined;
  busy?: boolean;
  /** Name for screen readers, if the text alone is ambiguous: `Redrive m-1`. */
  label?: string | undefined;
  children: ComponentChildren;
}

export function Button({
  kind = 'normal',
  keyHint,
  refusal,
  busy = false,
  label,
  class: more = '',
  onClick,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      class={`button button-${kind} ${more}`}
      aria-keyshortcuts={keyHint}
      aria-label={label}
      {...refused(refusal, busy)}
      onClick={(event) => {
        if (refusal === undefined && !busy) onClick?.(event);
        else event.preventDefault();
        if (refusal !== undefined) toastInfo(refusal);
      }}
      {...rest}
    >
      {children}
      <KeyHint of={keyHint} />
    </button>
  );
}

/** Attributes of a refused control, for a pointer and for screen readers. */
export const refused = (refusal: string | undefined, busy = false) =>
  ({
    'aria-disabled': refusal !== undefined || busy ? 'true' : undefined,
    'aria-description': refusal,
    title: refusal,
  }) as const;

export const KeyHint = ({ of }: { of: ShortcutKey | undefined }) =>
  of === undefined ? null : (
    <span class="key-hint" aria-hidden="true">
      <kbd>{of}</kbd>
    </span>
  );

export function IconButton({
  icon,
  label,
  class: more = '',
  ...rest
}: ButtonAttributes & { icon: IconName; label: string }) {
  return (
    <button type="button" class={`icon-button ${more}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

interface DiscloseProps {
  open: boolean;
  onToggle: () => void;
  children: ComponentChildren;
}

export const Disclose = ({ open, onToggle, children }: DiscloseProps) => (
  <button type="button" class="disclose" aria-expanded={open} onClick={onToggle}>
    {children}
  </button>
);
