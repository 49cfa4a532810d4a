import type { FauxqsServer } from 'fauxqs';
import type { InspectedMessage } from '../../observation.ts';

/** A queue as fauxqs shows it. */
export type InspectedQueue = NonNullable<ReturnType<FauxqsServer['inspectQueue']>>;

type FauxqsMessage = InspectedQueue['messages']['ready'][number];

/**
 * The messages of a queue, those that were sent first coming first.
 * @param now in milliseconds since 1970. fauxqs finds only at the next receive that a delay or a visibility time-out is over.
 */
export function inspectedMessages({ messages }: InspectedQueue, now: number): InspectedMessage[] {
  const { ready, delayed, inflight } = messages;
  const inspected = [
    ...ready.map((message) => inspect(message, 'waiting')),
    ...delayed.map((message) => inspect(message, (message.delayUntil ?? 0) > now ? 'delayed' : 'waiting')),
    ...inflight.map(({ message, visibilityDeadline }) =>
      inspect(message, visibilityDeadline > now ? 'in flight' : 'waiting'),
    ),
  ];
  return inspected.sort((one, other) => one.sentAt.getTime() - other.sentAt.getTime());
}

function inspect(message: FauxqsMessage, state: InspectedMessage['state']): InspectedMessage {
  return {
    id: message.messageId,
    body: message.body,
    state,
    sentAt: new Date(message.sentTimestamp),
    receives: message.approximateReceiveCount,
    attributes: Object.fromEntries(
      Object.entries(message.messageAttributes).flatMap(([name, { StringValue }]) =>
        StringValue === undefined ? [] : [[name, StringValue]],
      ),
    ),
  };
}
