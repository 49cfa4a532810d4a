import type { Task } from '../../api.ts';
import { Badge } from '../shared/badge.tsx';
import type { Tone } from '../shared/tone.ts';

const STATES: Readonly<Record<Task['state'], { tone: Tone; text: string }>> = {
  running: { tone: 'info', text: 'Running' },
  done: { tone: 'good', text: 'Done' },
  failed: { tone: 'bad', text: 'Failed' },
};

export function TaskState({ state }: { state: Task['state'] }) {
  const { tone, text } = STATES[state];
  return <Badge tone={tone}>{text}</Badge>;
}
