import type { NeedsYouMessage } from '../../api.ts';

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
