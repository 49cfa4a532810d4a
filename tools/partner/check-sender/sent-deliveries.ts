import type { EventName } from '../../../lambda/events/catalogue.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { compressionOf, textsInUtf16 } from './encodings.ts';
import { canonicalForm, type JsonNode, memberOf, nodesIn, parseJson, writeJson } from './json-node.ts';

/** Maximum number of deliveries remembered, as hashes only. The oldest is forgotten first. */
const MAX_DELIVERIES = 10_000;

/** Maximum number of requests remembered per delivery. Further ones are only counted. */
const MAX_ATTEMPTS = 1_000;

/** Of a body larger than this, only the hash is compared. */
const MAX_BYTES_PARSED = 256 * 1024;

/** How one request ended: the status of the answer, or why there was none. */
export type AttemptEnding = number | 'cut' | 'gave up';

/** Facts about a request before it is answered. Times are in milliseconds, of one clock. */
export interface ReceivedRequest {
  readonly at: number;
  /** Before it, the sender cannot have sent the request: a new connection was opened then. */
  readonly earliest: number;
  /** The service's own answer, even if another one was simulated. */
  readonly status: number;
  /** Whether another request came before it on the same connection. */
  readonly isReused: boolean;
  readonly eventId: string;
  readonly event: EventName | undefined;
  readonly signature: string;
}

export interface SentAttempt extends ReceivedRequest {
  /** Undefined until the request has ended. */
  end: { readonly how: AttemptEnding; readonly at: number; readonly retryAfterSeconds: number } | undefined;
  /** Whether its bytes are those of the delivery's first request. */
  readonly isSameBytes: boolean;
  /** Whether its signature is that of the first request with these bytes. */
  readonly isSameSignature: boolean;
}

/** One event, which its sender repeats until it is accepted. */
export interface SentDelivery {
  readonly number: number;
  /** Event id of the first request. */
  readonly eventId: string;
  event: EventName | undefined;
  readonly attempts: SentAttempt[];
  /** Includes attempts beyond the remembered ones. */
  count: number;
  /** Number of rejected requests that this delivery corrects. */
  readonly corrects: number;
}

/**
 * Groups requests by delivery: requests with the same bytes, with the same content written differently, and, after a
 * failure, with the same values and another timestamp. `webhookId` is not used, because it may identify a subscription
 * (decision D6).
 *
 * A new delivery begins if the service itself rejected the previous one and it comes again with other bytes or another
 * signature: somebody has corrected it.
 */
export class SentDeliveries {
  #all: { readonly delivery: SentDelivery; readonly keys: readonly string[] }[] = [];
  #count = 0;

  /** Records a request that has no answer yet. */
  note(received: ReceivedRequest, body: Buffer): { delivery: SentDelivery; attempt: SentAttempt } {
    const request = { ...received, signature: sha256Hex(received.signature) };
    const keys = keysOf(request.eventId, body);
    const found = this.#find(keys);
    const delivery =
      found === undefined || isCorrected(found, request) ? this.#add(request, keys, found) : found;
    const before = delivery.attempts.find(({ eventId }) => eventId === request.eventId);
    const attempt: SentAttempt = {
      ...request,
      end: undefined,
      isSameBytes: request.eventId === delivery.eventId,
      isSameSignature: before === undefined || before.signature === request.signature,
    };
    delivery.count += 1;
    delivery.event ??= request.event;
    if (delivery.attempts.length < MAX_ATTEMPTS) delivery.attempts.push(attempt);
    return { delivery, attempt };
  }

  /** In the order of their first requests. */
  all(): SentDelivery[] {
    return this.#all.map(({ delivery }) => delivery);
  }

  #find(keys: readonly string[]): SentDelivery | undefined {
    for (const key of keys) {
      const delivery = this.#all.findLast((known) => known.keys.includes(key))?.delivery;
      if (delivery === undefined) continue;
      const ending = delivery.attempts.at(-1)?.end?.how;
      const isRefused = ending !== undefined && ending !== 200;
      if (!key.startsWith(VALUES) || isRefused) return delivery;
    }
    return undefined;
  }

  /** @param corrected the delivery that this one replaces */
  #add({ eventId, event }: ReceivedRequest, keys: readonly string[], corrected?: SentDelivery): SentDelivery {
    const corrects = corrected === undefined ? 0 : corrected.corrects + corrected.count;
    this.#count += 1;
    const delivery = { number: this.#count, eventId, event, attempts: [], count: 0, corrects };
    this.#all = this.#all.filter((known) => known.delivery !== corrected).slice(1 - MAX_DELIVERIES);
    this.#all.push({ delivery, keys });
    return delivery;
  }
}

const isCorrected = ({ eventId, attempts }: SentDelivery, request: ReceivedRequest): boolean =>
  (request.eventId !== eventId || request.signature !== attempts[0]?.signature) &&
  attempts.every(({ status }) => status !== 200);

/**
 * Prefix of a key that identifies a delivery only if it was not accepted. After a success, the same values may be another
 * event.
 */
const VALUES = 'values ';

function keysOf(eventId: string, body: Buffer): string[] {
  const bytes = `bytes ${eventId}`;
  if (body.length > MAX_BYTES_PARSED) return [bytes];
  const sent = objectIn(body.toString());
  const meant = sent ?? meantObject(body);
  const data = memberOf(meant, 'data');
  const values = JSON.stringify([valuesIn(memberOf(meant, 'event')), valuesIn(data).sort()]);
  return [
    bytes,
    ...(sent === undefined ? [] : [`content ${sha256Hex(writeJson(sent, canonicalForm))}`]),
    ...(data === undefined ? [] : [`${VALUES}${sha256Hex(values)}`]),
  ];
}

function objectIn(text: string): JsonNode | undefined {
  const tree = parseJson(text.replace(/^\uFEFF/, ''));
  return tree?.kind === 'object' ? tree : undefined;
}

/**
 * The event in a body that the service cannot read, because it was serialised twice, compressed or encoded in UTF-16.
 */
function meantObject(body: Buffer): JsonNode | undefined {
  const tree = parseJson(body.toString());
  if (tree?.kind === 'string') return objectIn(tree.value);
  const plain = compressionOf(body, [])?.plain;
  if (plain !== undefined) return plain.length > MAX_BYTES_PARSED ? undefined : objectIn(plain.toString());
  return textsInUtf16(body)
    .map(objectIn)
    .find((found) => found !== undefined);
}

/** Values without their names and types, which a correction may change: `{"shopId": 1}` becomes `{"shop_id": "1"}`. */
function valuesIn(node: JsonNode | undefined): string[] {
  return (node === undefined ? [] : nodesIn(node))
    .filter(({ kind, text }) => ['string', 'literal'].includes(kind) && text !== 'null')
    .map(({ value }) => value);
}
