import type { ComponentChildren } from 'preact';

interface DiscloseProps {
  open: boolean;
  /** For a screen reader, if the text alone is ambiguous: `Body of m-1`. */
  label?: string;
  onToggle: () => void;
  children: ComponentChildren;
}

/** Shows or hides what stands below its row. */
export function Disclose({ open, label, onToggle, children }: DiscloseProps) {
  return (
    <button type="button" class="disclose" aria-expanded={open} aria-label={label} onClick={onToggle}>
      {children}
    </button>
  );
}

/** A set with an id added, or removed if it was there. */
export function toggled(ids: ReadonlySet<string> | undefined, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}
