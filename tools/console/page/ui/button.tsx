import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ShortcutKey } from '../shortcuts.ts';
import { Icon, type IconName } from './icon.tsx';
import { Refusal } from './refusal.tsx';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children' | 'label'> {
  kind?: 'primary' | 'normal' | 'quiet' | 'danger';
  keyHint?: ShortcutKey | undefined;
  /** Why the button is disabled. A disabled button can still get the focus, and then shows this reason. */
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
  const reason = useId();
  const isOff = refusal !== undefined || busy;
  return (
    <button
      type="button"
      class={`button button-${kind} ${more}`}
      aria-keyshortcuts={keyHint}
      aria-disabled={isOff ? 'true' : undefined}
      aria-label={label}
      aria-describedby={refusal === undefined ? undefined : reason}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    >
      {children}
      <KeyHint of={keyHint} />
      <Refusal id={reason} text={refusal} />
    </button>
  );
}

export const KeyHint = ({ of }: { of: ShortcutKey | undefined }) =>
  of === undefined ? null : (
    <span class="key-hint" aria-hidden="true">
      <kbd>{of}</kbd>
    </span>
  );

interface IconButtonProps
  extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children' | 'icon' | 'label'> {
  icon: IconName;
  label: string;
}

export function IconButton({ icon, label, class: more = '', ...rest }: IconButtonProps) {
  return (
    <button type="button" class={`icon-button ${more}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

interface DiscloseProps {
  open: boolean;
  label?: string;
  onToggle: () => void;
  children: ComponentChildren;
}

export function Disclose({ open, label, onToggle, children }: DiscloseProps) {
  return (
    <button type="button" class="disclose" aria-expanded={open} aria-label={label} onClick={onToggle}>
      {children}
    </button>
  );
}
