import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { errorText } from '../api.ts';
import { toastError, toastInfo } from './toasts.ts';

type ButtonAttributes = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children' | 'label' | 'icon'>;

interface ButtonProps extends ButtonAttributes {
  kind?: 'primary' | 'normal' | 'quiet';
  /** Its shortcut. */
  keyHint?: string | undefined;
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
  onClick,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      class={`button button-${kind}`}
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

export const KeyHint = ({ of }: { of: string | undefined }) =>
  of === undefined ? null : (
    <span aria-hidden="true">
      <kbd>{of}</kbd>
    </span>
  );

/** SVG paths, drawn as strokes on a grid of 16 by 16 pixels. */
const ICONS = {
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M6 5.5h7v8H6zM10 5.5v-3H3v8h3',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  down: 'M4 6l4 4 4-4',
} as const;

export const Icon = ({ name }: { name: keyof typeof ICONS }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={ICONS[name]} />
  </svg>
);

interface IconButtonProps extends ButtonAttributes {
  icon: keyof typeof ICONS;
  label: string;
}

export const IconButton = ({ icon, label, class: more = '', ...rest }: IconButtonProps) => (
  <button type="button" class={`button button-quiet ${more}`} aria-label={label} title={label} {...rest}>
    <Icon name={icon} />
  </button>
);

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

/** @param label what the button copies: `Copy the event id` */
export const Copy = ({ text, label }: { text: string; label: string }) => (
  <IconButton class="copy" icon="copy" label={label} onClick={() => copyAndSay(text, 'Copied.')} />
);

/**
 * Copies a text. A toast says so, or reports an error.
 * @param text a promise if it is loaded first: Safari allows a copy only if it starts during the click
 */
export async function copyAndSay(text: string | Promise<string>, said: string): Promise<void> {
  try {
    const blob = Promise.resolve(text).then((known) => new Blob([known], { type: 'text/plain' }));
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
    toastInfo(said);
  } catch (error) {
    toastError(`Not copied: ${errorText(error)}`);
  }
}

interface CheckBoxProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  /** Name for screen readers, if there is no text. */
  name?: string;
  children?: string;
}

export const CheckBox = ({ checked, onChange, name, children }: CheckBoxProps) => (
  <label class="check">
    <input
      type="checkbox"
      aria-label={name}
      checked={checked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    {children}
  </label>
);
