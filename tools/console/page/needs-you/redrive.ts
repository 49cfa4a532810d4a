import { counted } from '../../../terminal/text.ts';
import type { NeedsYouMessage } from '../../api.ts';
import type { Command } from '../command.ts';

export type Messages = readonly NeedsYouMessage[];

/** Messages of one queue that were set aside for the same reason. */
export interface MessageGroup {
  readonly id: string;
  readonly queue: string;
  readonly reason: string;
  /** Number of messages, each copy counted. */
  readonly count: number;
  /** Time of the oldest message, ISO 8601. */
  readonly firstAt: string;
  readonly lastAt: string;
  /** The messages, newest first. */
  readonly messages: Messages;
}

/** Groups messages by queue and reason, the largest group first. */
export function groupsOf(messages: Messages): MessageGroup[] {
  return [...Map.groupBy(messages, ({ queue, reason }) => `${queue} ${reason}`)]
    .flatMap(([id, own]) => {
      const sorted = own.toSorted((one, other) => (one.sentAt < other.sentAt ? 1 : -1));
      const [newest] = sorted;
      if (newest === undefined) return [];
      const [firstAt = ''] = own.map(({ firstSentAt }) => firstSentAt).sort();
      const { queue, reason, sentAt: lastAt } = newest;
      return [{ id, queue, reason, count: countOf(own), firstAt, lastAt, messages: sorted }];
    })
    .sort((one, other) => other.count - one.count || (one.lastAt < other.lastAt ? 1 : -1));
}

/** Number of messages, each copy counted. */
export const countOf = (messages: Messages): number => messages.reduce((sum, { copies }) => sum + copies, 0);

const REDRIVES: Readonly<Record<string, string>> = {
  quarantine:
    'Signs the bytes in quarantine and posts them to the receiver again, copies once. Those that are still invalid return to quarantine.',
  unrouted:
    'Moves each unrouted event that has a consumer by now to the queue of its event. The others stay.',
};

/** `3 dead letters of shop.updated`. */
function messagesText(queue: string, count: number | undefined): string {
  const what = REDRIVES[queue] === undefined ? 'dead letter' : 'message';
  return `${count === undefined ? `all ${what}s` : counted(count, what)} of ${queue}`;
}

/**
 * @param queue an event (for its dead letters), `quarantine` or `unrouted`
 * @param ids of messages or events. Their copies are redriven, too. @default all messages
 * @param count number of messages, each copy counted, for the text
 */
export function redriveCommand(queue: string, ids?: readonly string[], count = ids?.length): Command {
  const what = messagesText(queue, count);
  const back = `Moves ${what} back to its queue. An event that fails again becomes a dead letter again.`;
  return {
    argv: ['dlq', 'redrive', queue, ...(ids ?? []).flatMap((id) => ['--id', id])],
    does: REDRIVES[queue] ?? back,
    did: `Redriven ${what}.`,
  };
}

/** One command for each queue of the messages. */
const perQueue = (messages: Messages, command: (queue: string, own: Messages) => Command): Command[] =>
  [...Map.groupBy(messages, ({ queue }) => queue)].map(([queue, own]) => command(queue, own));

const idsOf = (messages: Messages) => messages.map(({ id }) => id);

/** Commands that redrive only these messages. */
export const redriveMessages = (messages: Messages): Command[] =>
  perQueue(messages, (queue, own) => redriveCommand(queue, idsOf(own), countOf(own)));

/** Commands that redrive everything on the messages' queues. */
export const redriveQueues = (messages: Messages): Command[] =>
  perQueue(messages, (queue) => redriveCommand(queue));

/** Commands that delete these messages for good. */
export const discardMessages = (messages: Messages, reason: string): Command[] =>
  perQueue(messages, (queue, own) => {
    const what = messagesText(queue, countOf(own));
    const ids = idsOf(own).flatMap((id) => ['--id', id]);
    return {
      argv: ['dlq', 'discard', queue, '--reason', reason, '--no-export', ...ids],
      does: `Deletes ${what} for good, and logs the reason with your name.`,
      did: `Discarded ${what}.`,
    };
  });
