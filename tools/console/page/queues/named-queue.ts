import { counted } from '../../../terminal/text.ts';
import type { DeadLetterGroup } from '../../api.ts';
import type { Command } from '../command.ts';
import { formatRoute } from '../route.ts';

const DEAD = 'dead:';

/** Parses a queue's name in an address. `dead:shop.updated` is the dead-letter queue of an event. */
export function namedQueue(name: string): { readonly event: string | undefined; readonly isDead: boolean } {
  if (name === 'quarantine' || name === 'unrouted') return { event: undefined, isDead: false };
  const isDead = name.startsWith(DEAD);
  return { event: isDead ? name.slice(DEAD.length) : name, isDead };
}

export const queueAddress = (name: string) => formatRoute({ view: 'queues', path: [name] });

export const deadLetterAddress = (event: string) => queueAddress(`${DEAD}${event}`);

/**
 * @param queue an event (its dead letters), `quarantine` or `unrouted`
 * @param ids of messages or events, with their copies; by default all
 * @param count of messages, each copy included
 */
export function redriveCommand(queue: string, ids?: readonly string[], count = ids?.length): Command {
  return {
    argv: ['dlq', 'redrive', queue, ...(ids ?? []).flatMap((id) => ['--id', id])],
    does: redriveText(queue, count),
    did: `Redriven ${redrivenText(queue, count)}.`,
  };
}

function redriveText(queue: string, count: number | undefined): string {
  if (queue === 'quarantine') {
    return 'Signs the bytes in quarantine and posts them to the receiver again, copies once. Those that are still invalid return to quarantine.';
  }
  if (queue === 'unrouted') {
    return 'Moves each unrouted event that has a consumer by now to the queue of its event. The others stay.';
  }
  return `Moves ${redrivenText(queue, count)} back to its queue. An event that fails again becomes a dead letter again.`;
}

/** `3 dead letters of shop.updated`. */
function redrivenText(queue: string, count: number | undefined): string {
  const isDead = queue !== 'quarantine' && queue !== 'unrouted';
  const what = isDead ? 'dead letter' : 'message';
  return `${count === undefined ? `all ${what}s` : counted(count, what)} of ${queue}`;
}

/** Messages of a group by event, most dead letters first. */
export function eventsOf({ messages }: DeadLetterGroup) {
  return [...Map.groupBy(messages, ({ queue }) => queue)]
    .map(([event, own]) => ({
      event,
      ids: own.map(({ id }) => id),
      count: own.reduce((sum, { copies }) => sum + copies, 0),
    }))
    .sort((one, other) => other.count - one.count || one.event.localeCompare(other.event));
}

export const redriveGroup = (group: DeadLetterGroup): Command[] =>
  eventsOf(group).map(({ event, ids, count }) => redriveCommand(event, ids, count));

/** Redrives whole queues with SQS's own move task. */
export function redriveAll(groups: readonly DeadLetterGroup[]): Command[] {
  const events = new Set(groups.flatMap(({ messages }) => messages.map(({ queue }) => queue)));
  return [...events].sort().map((event) => redriveCommand(event));
}
