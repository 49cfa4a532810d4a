import type { ComponentChildren } from 'preact';

/** What a colour says; words say it too. */
export type Tone = 'neutral' | 'info' | 'good' | 'warning' | 'bad';

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}
