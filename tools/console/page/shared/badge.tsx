import type { ComponentChildren } from 'preact';
import type { Tone } from './tone.ts';

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}
