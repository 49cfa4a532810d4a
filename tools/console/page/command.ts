import { counted } from '../../terminal/text.ts';
import type { CommandRequest, NeedsYouMessage } from '../api.ts';

export interface Command extends CommandRequest {
  /** What the command does, as a sentence. The question before a stage is changed shows it. */
  readonly does: string;
  /** Toast for the command's success, such as `Paused shop.updated.` */
  readonly did: string;
}

/** Sends the body of a delivery again. */
export const resendCommand = (id: string): Command => ({
  argv: ['send', '--again', id],
  does: 'Sends the same body again, signed with the current secret.',
  did: 'Sent again.',
});

/** Signs a body and sends it. */
export const sendCommand = (input: string): Command => ({
  argv: ['send', '--file', '-'],
  input,
  does: 'Signs this body and sends it.',
  did: 'Sent.',
});

export const pauseCommand = (event: string, reason: string): Command => ({
  argv: ['pause', event, '--reason', reason],
  does: `Stops the processing of ${event}. Its deliveries wait on the queue, and one alarm says who paused it and why.`,
  did: `Paused ${event}.`,
});

export const resumeCommand = (event: string): Command => ({
  argv: ['resume', event],
  does: `Starts the processing of ${event} again. Waiting messages are processed.`,
  did: `Resumed ${event}.`,
});

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

export type Messages = readonly NeedsYouMessage[];

/** Number of messages, each copy counted. */
export const countOf = (messages: Messages): number => messages.reduce((sum, { copies }) => sum + copies, 0);

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
