import { valuesOf } from 'local-aws/gateway';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { sha256Hex } from '../../lambda/hash.ts';
import { compressionOf, textsInUtf16 } from './encodings.ts';
import { canonicalForm, type JsonNode, memberOf, nodesIn, parseJson, writeJson } from './json-node.ts';
import { knownEvent } from './payload-findings.ts';
import type { SentRequest } from './signed-messages.ts';

/** Maximum number of deliveries to store, as hashes only. The oldest is dropped first. */
const MAX_DELIVERIES = 10_000;
/** Maximum number of requests to store per delivery. */
const MAX_ATTEMPTS = 1_000;
/** Maximum bytes of a body whose content is compared. Larger bodies are compared only by their hash. */
const MAX_BYTES_PARSED = 256 * 1024;

/**
 * Groups requests by delivery. Requests belong together if their bytes are equal, if their content is equal
 * but written differently or, after a failure, if their values are equal except the timestamp. `webhookId` is
 * not used, because it may identify a subscription (decision D6). If the service itself rejected a delivery,
 * the next try with other bytes or another signature begins a new one, because somebody has corrected it.
 */
export class SentDeliveries {
  #all: { readonly delivery: SentDelivery; readonly keys: readonly string[] }[] = [];
  #count = 0;

  /** Records a request that has no answer yet. */
  record(
    observed: Pick<SentAttempt, 'at' | 'earliest' | 'status' | 'isReused'>,
    { body, headers }: Pick<SentRequest, 'body' | 'headers'>,
  ): { delivery: SentDelivery; attempt: SentAttempt } {
    const eventId = sha256Hex(body);
    const signature = sha256Hex(valuesOf(headers, 'x-webhook-signature').join(','));
    const keys = keysOf(eventId, body);
    const found = this.#find(keys);
    const [first] = found?.attempts ?? [];
    const isOther = first?.eventId !== eventId || first.signature !== signature;
    const isCorrected = isOther && found?.attempts.every(({ status }) => status !== 200);
    const delivery = found === undefined || isCorrected ? this.#add(eventId, keys, found) : found;
    const before = delivery.attempts.find((attempt) => attempt.eventId === eventId);
    const isSameSignature = before === undefined || before.signature === signature;
    const isSameBytes = eventId === delivery.eventId;
    const attempt = { ...observed, eventId, isSameBytes, signature, isSameSignature, end: undefined };
    if (observed.status === 200) delivery.event ??= knownEvent(body);
    if (delivery.attempts.length < MAX_ATTEMPTS) delivery.attempts.push(attempt);
    return { delivery, attempt };
  }

  /** Deliveries in the order of their first requests. */
  all(): SentDelivery[] {
    return this.#all.map(({ delivery }) => delivery);
  }

  #find(keys: readonly string[]): SentDelivery | undefined {
    for (const key of keys) {
      const delivery = this.#all.findLast((known) => known.keys.includes(key))?.delivery;
      const ending = delivery?.attempts.at(-1)?.end?.how;
      const isRefused = ending !== undefined && ending !== 200;
      if (delivery !== undefined && (isRefused || !key.startsWith(VALUES))) return delivery;
    }
    return undefined;
  }

  /** @param corrected the rejected delivery that the new delivery corrects */
  #add(eventId: string, keys: readonly string[], corrected?: SentDelivery): SentDelivery {
    const corrects = corrected === undefined ? 0 : corrected.corrects + corrected.attempts.length;
    this.#count += 1;
    const delivery = { number: this.#count, eventId, event: undefined, attempts: [], corrects };
    this.#all = this.#all.filter((known) => known.delivery !== corrected).slice(1 - MAX_DELIVERIES);
    this.#all.push({ delivery, keys });
    return delivery;
  }
}

/** How one request ended: the status of the answer, or why there was no answer. */
export type AttemptEnding = number | 'cut' | 'gave up';

/** A request of a delivery. Times are milliseconds of the same clock. */
export interface SentAttempt {
  readonly at: number;
  /**
   * Earliest time at which the sender can have sent the request: when its new connection was opened. On a
   * connection that was used before, when the request began.
   */
  readonly earliest: number;
  /** Status of the service's own answer, even if another answer was sent. */
  readonly status: number;
  /** Whether the connection had been used before. */
  readonly isReused: boolean;
  readonly eventId: string;
  /** Whether the bytes equal those of the delivery's first request. */
  readonly isSameBytes: boolean;
  /** Hash of the signature. */
  readonly signature: string;
  /** Whether the signature equals that of the first request with these bytes. */
  readonly isSameSignature: boolean;
  /** Undefined until the request has ended. */
  end: { readonly how: AttemptEnding; readonly at: number; readonly retryAfterSeconds: number } | undefined;
}

/** A delivery: one event, which its sender repeats until it is accepted. */
export interface SentDelivery {
  readonly number: number;
  /** Event id of the first request. */
  readonly eventId: string;
  event: EventName | undefined;
  readonly attempts: SentAttempt[];
  /** Number of rejected requests that this delivery has corrected. */
  readonly corrects: number;
}

/**
 * Prefix of keys made of values. Such a key identifies a delivery only until the delivery is accepted: later, the same
 * values may be another event.
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
 * The event in a body that the service cannot read because of its form: serialised twice, compressed or
 * UTF-16.
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

/**
 * All values without names and types, which a correction may change: `{"shopId": 1}` becomes `{"shop_id":
 * "1"}`.
 */
function valuesIn(node: JsonNode | undefined): string[] {
  return (node === undefined ? [] : nodesIn(node))
    .filter(({ kind, text }) => ['string', 'literal'].includes(kind) && text !== 'null')
    .map(({ value }) => value);
}
