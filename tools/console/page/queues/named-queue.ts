import { counted } from '../../../terminal/text.ts';
import type { QueueMessage } from '../../api.ts';
import type { Command } from '../command.ts';
import { formatRoute } from '../route.ts';

const DEAD = 'dead:';

/** Parses the name of a queue in an address: `dead:shop.updated` is the dead-letter queue of an event. */
export function namedQueue(name: string): { readonly event: string | undefined; readonly isDead: boolean } {
  if (name === 'quarantine' || name === 'unrouted') return { event: undefined, isDead: false };
  const isDead = name.startsWith(DEAD);
  return { event: isDead ? name.slice(DEAD.length) : name, isDead };
}

export const queueAddress = (name: string) => formatRoute({ view: 'queues', path: [name] });

export const deadLetterAddress = (event: string) => queueAddress(`${DEAD}${event}`);

/**
 * @param queue an event (for its dead letters), `quarantine` or `unrouted`
 * @param ids of messages or events. Their copies are redriven, too. @default all messages
 * @param count number of messages, each copy counted, for the text
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

/** Messages that were set aside for the same reason. */
export interface GroupedMessages {
  readonly reason: string;
  /** Number of messages, each copy counted. */
  readonly count: number;
  /** Time of the oldest message, ISO 8601. */
  readonly firstAt: string;
  readonly lastAt: string;
  /** The messages, newest first. */
  readonly messages: readonly QueueMessage[];
}

/** Groups messages by reason, the largest group first. */
export function groupsOf(messages: readonly QueueMessage[]): GroupedMessages[] {
  return [...Map.groupBy(messages, ({ reason = '' }) => reason)]
    .map(([reason, own]) => {
      const sorted = own.toSorted((one, other) => (one.sentAt < other.sentAt ? 1 : -1));
      const [firstAt = ''] = own.map(({ firstSentAt }) => firstSentAt).sort();
      return { reason, count: countOf(own), firstAt, lastAt: sorted[0]?.sentAt ?? '', messages: sorted };
    })
    .sort((one, other) => other.count - one.count || (one.lastAt < other.lastAt ? 1 : -1));
}

/** Number of messages, each copy counted. */
export const countOf = (messages: readonly QueueMessage[]): number =>
  messages.reduce((sum, { copies }) => sum + copies, 0);

/** Groups messages by the queue's name on the command line, the largest group first. */
export function queuesOf(messages: readonly QueueMessage[]) {
  return [...Map.groupBy(messages, ({ queue }) => namedQueue(queue).event ?? queue)]
    .map(([name, own]) => ({ name, messages: own, count: countOf(own) }))
    .sort((one, other) => other.count - one.count || one.name.localeCompare(other.name));
}

/** Commands that redrive only these messages, one per queue. */
export const redriveMessages = (messages: readonly QueueMessage[]): Command[] =>
  queuesOf(messages).map(({ name, messages: own, count }) =>
    redriveCommand(
      name,
      own.map(({ id }) => id),
      count,
    ),
  );

/** Commands that redrive everything on the messages' queues, one per queue. SQS does that in one task. */
export const redriveQueues = (messages: readonly QueueMessage[]): Command[] =>
  queuesOf(messages).map(({ name }) => redriveCommand(name));
