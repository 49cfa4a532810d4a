import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Tone as StateTone } from '../../../stage/history/state-text.ts';

/** A word with a colour. The meaning is also clear without the colour. */
export function Badge({ tone = 'neutral', children }: { tone?: BadgeTone; children: ComponentChildren }) {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}

export type BadgeTone = StateTone | 'info';

/** A number in a table. Zero is dimmed so that other counts stand out. */
export function Quantity({ of }: { of: number }) {
  return <span class={of === 0 ? 'faint' : undefined}>{of.toLocaleString('en')}</span>;
}

/** Placeholder for missing content: why, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** An error. The rest of the view works. */
export function ErrorNote({ children }: { children: ComponentChildren }) {
  if (children === undefined) return null;
  return (
    <div class="note tone-bad" role="alert">
      {children}
    </div>
  );
}

/** Unknown data and the reason, such as a missing permission. The rest of the view works. */
export function Problems({ problems }: { problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="note tone-warning" aria-label="Not known">
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
}

/** Milliseconds. Faster content shows no loading text, which would flicker. */
const SAID_AFTER = 300;

export function Loading() {
  const isLate = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      isLate.value = true;
    }, SAID_AFTER);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="loading soft" role="status">
      {isLate.value && 'Loading …'}
    </p>
  );
}

interface ScrolledProps {
  label: string;
  class?: string;
  children: ComponentChildren;
}

/** A scrollable area. It can get the focus, so that the keyboard can scroll it. */
export function Scrolled({ label, class: more = '', children }: ScrolledProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
    <section class={`scrolled ${more}`} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
