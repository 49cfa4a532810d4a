import { counted } from '../../../terminal/text.ts';
import type { NeedsYouMessage } from '../../api.ts';
import type { Command } from '../command.ts';

/**
 * @param queue an event (for its dead letters), `quarantine` or `unrouted`
 * @param ids of messages or events. Their copies are redriven, too. @default all messages
 * @param count number of messages, each copy counted, for the text
 */
export function redriveCommand(queue: string, ids?: readonly string[], count = ids?.length): Command {
  const what = messagesText(queue, count);
  return {
    argv: ['dlq', 'redrive', queue, ...(ids ?? []).flatMap((id) => ['--id', id])],
    does: redriveText(queue, what),
    did: `Redriven ${what}.`,
  };
}

function redriveText(queue: string, what: string): string {
  if (queue === 'quarantine') {
    return 'Signs the bytes in quarantine and posts them to the receiver again, copies once. Those that are still invalid return to quarantine.';
  }
  if (queue === 'unrouted') {
    return 'Moves each unrouted event that has a consumer by now to the queue of its event. The others stay.';
  }
  return `Moves ${what} back to its queue. An event that fails again becomes a dead letter again.`;
}

/** `3 dead letters of shop.updated`. */
function messagesText(queue: string, count: number | undefined): string {
  const isDead = queue !== 'quarantine' && queue !== 'unrouted';
  const what = isDead ? 'dead letter' : 'message';
  return `${count === undefined ? `all ${what}s` : counted(count, what)} of ${queue}`;
}

/** Messages of one queue that were set aside for the same reason. */
export interface MessageGroup {
  readonly queue: string;
  readonly reason: string;
  /** Number of messages, each copy counted. */
  readonly count: number;
  /** Time of the oldest message, ISO 8601. */
  readonly firstAt: string;
  readonly lastAt: string;
  /** The messages, newest first. */
  readonly messages: readonly NeedsYouMessage[];
}

/** Groups messages by queue and reason, the largest group first. */
export function groupsOf(messages: readonly NeedsYouMessage[]): MessageGroup[] {
  return [...Map.groupBy(messages, ({ queue, reason }) => `${queue}\n${reason}`).values()]
    .flatMap((own) => {
      const sorted = own.toSorted((one, other) => (one.sentAt < other.sentAt ? 1 : -1));
      const [newest] = sorted;
      if (newest === undefined) return [];
      const [firstAt = ''] = own.map(({ firstSentAt }) => firstSentAt).sort();
      const { queue, reason, sentAt: lastAt } = newest;
      return [{ queue, reason, count: countOf(own), firstAt, lastAt, messages: sorted }];
    })
    .sort((one, other) => other.count - one.count || (one.lastAt < other.lastAt ? 1 : -1));
}

/** Number of messages, each copy counted. */
export const countOf = (messages: readonly NeedsYouMessage[]): number =>
  messages.reduce((sum, { copies }) => sum + copies, 0);

const byQueue = (messages: readonly NeedsYouMessage[]) => [
  ...Map.groupBy(messages, ({ queue }) => queue).entries(),
];

/** Commands that redrive only these messages, one per queue. */
export const redriveMessages = (messages: readonly NeedsYouMessage[]): Command[] =>
  byQueue(messages).map(([queue, own]) =>
    redriveCommand(
      queue,
      own.map(({ id }) => id),
      countOf(own),
    ),
  );

/** Commands that redrive everything on the messages' queues, one per queue. */
export const redriveQueues = (messages: readonly NeedsYouMessage[]): Command[] =>
  byQueue(messages).map(([queue]) => redriveCommand(queue));

/** Commands that delete these messages for good, one per queue. */
export const discardMessages = (messages: readonly NeedsYouMessage[], reason: string): Command[] =>
  byQueue(messages).map(([queue, own]) => {
    const what = messagesText(queue, countOf(own));
    return {
      argv: [
        'dlq',
        'discard',
        queue,
        '--reason',
        reason,
        '--no-export',
        ...own.flatMap(({ id }) => ['--id', id]),
      ],
      does: `Deletes ${what} for good, and logs the reason with your name.`,
      did: `Discarded ${what}.`,
    };
  });
