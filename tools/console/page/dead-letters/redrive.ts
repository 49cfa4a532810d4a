import type { Action, DeadLetterGroup } from '../../api.ts';

type Redrive = Extract<Action, { kind: 'redrive' }>;

/** How many of a group each queue has, the most first. */
export function queuesOf({ messages }: DeadLetterGroup): readonly { queue: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { queue } of messages) counts.set(queue, (counts.get(queue) ?? 0) + 1);
  return [...counts]
    .map(([queue, count]) => ({ queue, count }))
    .sort((one, other) => other.count - one.count || one.queue.localeCompare(other.queue));
}

/** A group takes an action for each queue that it has messages on. */
export function redriveGroup(group: DeadLetterGroup): readonly Redrive[] {
  return queuesOf(group).map(({ queue }) => ({
    kind: 'redrive',
    queue,
    ids: group.messages.filter((message) => message.queue === queue).map(({ id }) => id),
  }));
}

/** Whole queues, which SQS moves by itself. */
export function redriveAll(groups: readonly DeadLetterGroup[]): readonly Redrive[] {
  const queues = new Set(groups.flatMap(({ messages }) => messages.map(({ queue }) => queue)));
  return [...queues].sort().map((queue) => ({ kind: 'redrive', queue }));
}

/** Over all groups. */
export const deadCount = (groups: readonly DeadLetterGroup[]) =>
  groups.reduce((total, { count }) => total + count, 0);
