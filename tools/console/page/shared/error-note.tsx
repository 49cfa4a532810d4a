import type { ComponentChildren } from 'preact';

/** Something that went wrong, or is not known; the rest of the view works. */
export function ErrorNote({ children }: { children: ComponentChildren }) {
  return (
    <div class="error-note" role="alert">
      {children}
    </div>
  );
}
