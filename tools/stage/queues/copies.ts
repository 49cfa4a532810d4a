import { sha256Hex } from '../../../lambda/hash.ts';
import { attribute } from '../../../lambda/queue/message.ts';
import { counted, messages, printable } from '../../terminal/text.ts';
import type { AnyQueue } from './queue.ts';
import { attributesOf, type ReceivedMessage, wrappedBody } from './received-message.ts';

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
  { name, kind }: Pick<AnyQueue, 'name' | 'kind'>,
  message: Pick<ReceivedMessage, 'attributes' | 'body'>,
): string {
  const attributes = Object.entries(attributesOf(message)).filter(([name]) => !MAY_DIFFER.has(name));
  return sha256Hex(JSON.stringify([name, attributes.sort(), payloadOf(kind, message)]));
}

function payloadOf(
  kind: AnyQueue['kind'],
  { attributes, body }: Pick<ReceivedMessage, 'attributes' | 'body'>,
): string {
  // The body of a large payload's message has only the key, and in quarantine also the problems, which may differ.
  if (attributes[attribute.payloadKey] !== undefined) return '';
  return (kind === 'quarantine' ? wrappedBody(body) : undefined) ?? body;
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

/** `2 messages`; with copies `1 event, 14 copies`. */
export const eventsAndCopies = (events: number, copies: number): string =>
  events === copies ? messages(copies) : `${counted(events, 'event')}, ${copies} copies`;

/** `    2 × what`; with copies `    1 × what (14 copies)`. */
export function countLine(of: readonly { readonly key: string }[], what: string): string {
  const events = eventCount(of);
  const copies = events === of.length ? '' : ` (${of.length} copies)`;
  return `${String(events).padStart(5)} × ${printable(what)}${copies}`;
}

/** Number of events: copies count once. */
export const eventCount = (of: readonly { readonly key: string }[]): number =>
  new Set(of.map(({ key }) => key)).size;
