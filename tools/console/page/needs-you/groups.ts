import type { NeedsYouMessage } from '../../api.ts';

export type Messages = readonly NeedsYouMessage[];

/**
 * Groups messages that were set aside on one queue for the same reason, the largest group first. In a group, the newest
 * message is first.
 */
export const groupsOf = (messages: Messages): { id: string; messages: Messages }[] =>
  [...Map.groupBy(messages, ({ queue, reason }) => `${queue} ${reason}`)]
    .map(([id, own]) => ({
      id,
      messages: own.toSorted((one, other) => (one.sentAt < other.sentAt ? 1 : -1)),
    }))
    .sort((one, other) => countOf(other.messages) - countOf(one.messages));

/** The messages of one queue, or of one shop on any queue: its whole id, so that an action takes no other shop's. */
export const ofQueueOrShop = (messages: Messages, search: string): Messages =>
  search === '' ? messages : messages.filter(({ queue, shopId }) => queue === search || shopId === search);

/** Number of messages, each copy counted. */
export const countOf = (messages: Messages): number => messages.reduce((sum, { copies }) => sum + copies, 0);
