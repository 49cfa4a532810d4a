import type { ComponentChildren } from 'preact';
import { Button } from '../shared/button.tsx';

interface ActButtonProps {
  /** Why it cannot be done here. */
  refusal: string | undefined;
  busy?: boolean;
  kind?: 'primary' | 'normal' | 'quiet' | 'danger';
  /** For a screen reader, where the text alone does not say of what: `Redrive m-1`. */
  label?: string;
  onClick?: () => void;
  children: ComponentChildren;
}

/** A button that changes something. Where that is refused it stays reachable, and says why. */
export function ActButton({ refusal, busy = false, kind, label, onClick, children }: ActButtonProps) {
  const off = refusal !== undefined || busy;
  return (
    <Button
      aria-disabled={off ? 'true' : undefined}
      onClick={(event) => {
        if (!off) return onClick?.();
        event.preventDefault();
      }}
      {...(kind !== undefined && { kind })}
      {...(label !== undefined && { 'aria-label': label })}
      {...(refusal !== undefined && { title: refusal })}
    >
      {children}
    </Button>
  );
}
