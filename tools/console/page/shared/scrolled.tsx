import type { ComponentChildren } from 'preact';

interface ScrolledProps {
  /** For a screen reader: `Overview`. */
  label: string;
  class: string;
  children: ComponentChildren;
}

/** What scrolls by itself: the keyboard reaches it, also where nothing within can have the focus. */
export function Scrolled({ label, class: className, children }: ScrolledProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which the keyboard must reach
    <section class={className} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
