import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  kind?: 'primary' | 'normal' | 'quiet' | 'danger';
  /** The key that does the same. */
  keyHint?: string;
  children: ComponentChildren;
}

export function Button({ kind = 'normal', keyHint, children, class: extra, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button button-${kind}${extra === undefined ? '' : ` ${extra}`}`}
      aria-keyshortcuts={keyHint}
      {...rest}
    >
      {children}
      {keyHint !== undefined && (
        <span aria-hidden="true">
          <kbd>{keyHint}</kbd>
        </span>
      )}
    </button>
  );
}
