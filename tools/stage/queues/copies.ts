import { sha256Hex } from '../../../lambda/hash.ts';
import { attribute } from '../../../lambda/queue/message.ts';
import { counted, messages, printable } from '../../terminal/text.ts';
import type { AnyQueue } from './queue.ts';
import { attributesOf, bytesInMessage, type ReceivedMessage } from './received-message.ts';

/** Attributes that may differ between copies: those of one delivery or of one failure. */
const MAY_DIFFER = new Set<string>([
  attribute.receivedAt,
  attribute.requestId,
  attribute.reason,
  attribute.failureReason,
  attribute.failedAt,
]);

/**
 * A key that is equal for copies: messages of one queue with the same bytes, because the sender repeated a delivery. A
 * replay's message is no copy of a delivery's. The bytes count, too: a message that was sent by hand may have any
 * `eventId`.
 */
export function copyKey(
  queue: Pick<AnyQueue, 'name' | 'kind'>,
  message: Pick<ReceivedMessage, 'attributes' | 'body'>,
): string {
  const attributes = attributesOf(message);
  const equal = Object.entries(attributes).filter(([name]) => !MAY_DIFFER.has(name));
  const bytes = bytesInMessage(queue, message)?.toString('base64') ?? message.body;
  // The body of a large payload's message has only the key, and in quarantine also the problems, which may differ.
  const payload = attributes.payloadKey === undefined ? bytes : '';
  return sha256Hex(JSON.stringify([queue.name, equal.sort(), payload]));
}

/** A message in a list, and what the list shows of it. */
export interface ListedMessage<Shown> {
  readonly key: string;
  /** ISO 8601. */
  readonly at: string;
  readonly shown: Shown;
}

/** Groups copies into one entry, which shows the newest. `firstAt` is the time of the oldest. */
export function groupCopies<Shown>(listed: readonly ListedMessage<Shown>[]) {
  return [...Map.groupBy(listed, ({ key }) => key)].flatMap(([key, group]) => {
    const sorted = group.toSorted((a, b) => a.at.localeCompare(b.at));
    const [oldest, newest] = [sorted[0], sorted.at(-1)];
    return oldest && newest ? { key, shown: newest.shown, copies: group.length, firstAt: oldest.at } : [];
  });
}

type Copies = readonly { readonly key: string }[];

/** Number of events: copies count once. */
export const eventCount = (of: Copies): number => new Set(of.map(({ key }) => key)).size;

/** `2 messages`; with copies `1 event, 14 copies`. */
export function eventsAndCopies(of: Copies): string {
  const events = eventCount(of);
  return events === of.length ? messages(events) : `${counted(events, 'event')}, ${of.length} copies`;
}

/** For each text a line `    2 × what`, or with copies `    1 × what (14 copies)`. The most frequent is first. */
export function countLines<Listed extends Copies[number]>(
  of: readonly Listed[],
  whatOf: (one: Listed) => string,
): string[] {
  return [...Map.groupBy(of, whatOf)]
    .map(([what, own]) => ({ what, own, events: eventCount(own) }))
    .sort((a, b) => b.events - a.events)
    .map(({ what, own, events }) => {
      const copies = events === own.length ? '' : ` (${own.length} copies)`;
      return `${String(events).padStart(5)} × ${printable(what)}${copies}`;
    });
}
