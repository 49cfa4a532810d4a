import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Tone as StateTone } from '../../../stage/history/state-text.ts';

/** A word with a coloured background. The word alone is enough to understand it. */
export function Badge({ tone = 'neutral', children }: { tone?: BadgeTone; children: ComponentChildren }) {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}

export type BadgeTone = StateTone | 'info';

/** A number in a table. Zero is dimmed so that other counts stand out. */
export function Quantity({ of }: { of: number }) {
  return <span class={of === 0 ? 'faint' : undefined}>{of.toLocaleString('en')}</span>;
}

/** Shown instead of missing content: the reason, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** An error in one part of a view, whose other parts work. */
export function ErrorNote({ children }: { children: ComponentChildren }) {
  if (children === undefined) return null;
  return (
    <div class="note tone-bad" role="alert">
      {children}
    </div>
  );
}

/** What is unknown and why, such as a missing permission. The other parts of the view work. */
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

/** Milliseconds before a loading text appears. Content that loads faster would make it flicker. */
const LOADING_TEXT_DELAY = 300;

export function Loading() {
  const isLate = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      isLate.value = true;
    }, LOADING_TEXT_DELAY);
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
