import type { ComponentChildren } from 'preact';
import type { Tone } from '../../../stage/history/state-text.ts';

/** A word with a coloured background. The word alone is enough to understand it. */
export const Badge = ({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) => (
  <span class={`badge tone-${tone}`}>{children}</span>
);

/** A number in a table. Zero is dimmed so that other counts stand out. */
export const Quantity = ({ of }: { of: number }) => (
  <span class={of === 0 ? 'faint' : undefined}>{of.toLocaleString('en')}</span>
);

/** Characters of a hash or a UUID that identify it well enough for a reader. */
const SHORT_ID_LENGTH = 8;

export const shortId = (id: string) => id.slice(0, SHORT_ID_LENGTH);

/** Shown instead of missing content: the reason, and what to do. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty stack soft">
    <h2>{title}</h2>
    {children}
  </div>
);

/** An error in one part of a view, whose other parts work. */
export const ErrorNote = ({ children }: { children: ComponentChildren }) =>
  children === undefined ? null : (
    <div class="note tone-bad" role="alert">
      {children}
    </div>
  );

/** What is unknown and why, such as a missing permission. The other parts of the view work. */
export const Problems = ({ problems }: { problems: readonly string[] }) =>
  problems.length === 0 ? null : (
    <ul class="note tone-warning" aria-label="Not known">
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );

/** Appears late, because content that loads fast would make it flicker. */
export const Loading = () => (
  <p class="empty stack soft" role="status">
    Loading …
  </p>
);
