import type { EventName } from '../../../lambda/events/catalogue.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { inflated, UTF_16 } from './encodings.ts';
import { canonicalForm, type JsonNode, memberOf, nodesIn, parseJson, writeJson } from './json.ts';

/** Maximum number of deliveries remembered, as hashes only. The oldest is forgotten first. */
const MAX_DELIVERIES = 10_000;

/** Maximum number of requests remembered per delivery. Further ones are only counted. */
const MAX_ATTEMPTS = 1_000;

/** Of a body larger than this, only the hash is compared. */
const MAX_BYTES_PARSED = 256 * 1024;

/** How one request ended: the status of the answer, or why there was none. */
export type Ending = number | 'cut' | 'gave up';

export interface End {
  readonly how: Ending;
  /** Milliseconds, of the same clock as the attempt's `at`. */
  readonly at: number;
  /** From the answer's `Retry-After`. @default 0 */
  readonly retryAfterSeconds?: number;
}

export interface Attempt {
  /** Milliseconds, of one clock. */
  readonly at: number;
  /** Before it, the sender cannot have sent the request: a new connection was opened then. */
  readonly earliest: number;
  /** The service's own answer, even if another one was simulated. */
  readonly status: number;
  /** Undefined until the request has ended. */
  end: End | undefined;
  readonly connection: number;
  /** Whether another request came before it on the same connection. */
  readonly isReused: boolean;
  /** Whether its bytes are those of the delivery's first request. */
  readonly isSameBytes: boolean;
  /** Whether its signature is that of the first request with these bytes. */
  readonly isSameSignature: boolean;
}

/** One event, which its sender repeats until it is accepted. */
export interface Delivery {
  readonly number: number;
  /** Event id of the first request. */
  readonly eventId: string;
  event: EventName | undefined;
  readonly attempts: Attempt[];
  /** Includes attempts beyond the remembered ones. */
  count: number;
  /** Number of rejected requests that this delivery corrects. */
  readonly corrects: number;
}

/** Facts about a request before it is answered. */
export interface ReceivedRequest
  extends Pick<Attempt, 'at' | 'earliest' | 'status' | 'connection' | 'isReused'> {
  readonly eventId: string;
  readonly body: Buffer;
  readonly event: EventName | undefined;
  readonly signature: string;
}

/**
 * Groups requests by delivery: requests with the same bytes, with the same content written differently, and, after a
 * failure, with the same values and another timestamp. `webhookId` is not used, because it may identify a subscription
 * (decision D6).
 *
 * A new delivery begins if the service itself rejected the previous one and it comes again with other bytes or another
 * signature: somebody has corrected it.
 */
export class Deliveries {
  readonly #all = new Map<string, { delivery: Delivery; keys: string[] }>();
  readonly #byKey = new Map<string, string>();
  readonly #signatures = new Map<string, string>();
  #number = 0;

  /** Records a request that has no answer yet. */
  note(received: ReceivedRequest): { delivery: Delivery; attempt: Attempt } {
    const { at, earliest, status, eventId, connection, isReused } = received;
    const signature = sha256Hex(received.signature);
    const keys = keysOf(received);
    const found = this.#find(keys);
    const delivery =
      found === undefined || this.#isCorrected(found, eventId, signature)
        ? this.#add(received, keys, found)
        : found;
    const before = this.#signatures.get(eventId);
    if (before === undefined) this.#signatures.set(eventId, signature);
    const attempt: Attempt = {
      at,
      earliest,
      status,
      end: undefined,
      connection,
      isReused,
      isSameBytes: eventId === delivery.eventId,
      isSameSignature: before === undefined || before === signature,
    };
    delivery.count += 1;
    delivery.event ??= received.event;
    if (delivery.attempts.length < MAX_ATTEMPTS) delivery.attempts.push(attempt);
    return { delivery, attempt };
  }

  /** In the order of their first requests. */
  all(): Delivery[] {
    return [...this.#all.values()].map(({ delivery }) => delivery);
  }

  #find(keys: Keys): Delivery | undefined {
    for (const key of [...keys.exact, ...keys.afterRefusal]) {
      const delivery = this.#all.get(this.#byKey.get(key) ?? '')?.delivery;
      if (delivery === undefined) continue;
      const ending = delivery.attempts.at(-1)?.end?.how;
      const isRefused = ending !== undefined && ending !== 200;
      if (keys.exact.includes(key) || isRefused) return delivery;
    }
    return undefined;
  }

  #isCorrected({ eventId, attempts }: Delivery, newEventId: string, newSignature: string): boolean {
    const isOther = newEventId !== eventId || newSignature !== this.#signatures.get(eventId);
    return isOther && attempts.every(({ status }) => status !== 200);
  }

  /** @param corrected the delivery that this one replaces */
  #add({ eventId, event }: ReceivedRequest, keys: Keys, corrected?: Delivery): Delivery {
    if (corrected !== undefined) this.#forget(corrected.eventId);
    const corrects = corrected === undefined ? 0 : corrected.corrects + corrected.count;
    this.#number += 1;
    const delivery: Delivery = { number: this.#number, eventId, event, attempts: [], count: 0, corrects };
    const all = [...keys.exact, ...keys.afterRefusal];
    this.#all.set(eventId, { delivery, keys: all });
    for (const key of all) this.#byKey.set(key, eventId);
    const [oldest] = this.#all.keys();
    if (oldest !== undefined && this.#all.size > MAX_DELIVERIES) this.#forget(oldest);
    return delivery;
  }

  #forget(eventId: string): void {
    const { keys } = this.#all.get(eventId) ?? { keys: [] };
    this.#all.delete(eventId);
    this.#signatures.delete(eventId);
    for (const key of keys) if (this.#byKey.get(key) === eventId) this.#byKey.delete(key);
  }
}

interface Keys {
  /** Each identifies the delivery. */
  readonly exact: readonly string[];
  /** Each identifies the delivery if it was not accepted. After a success, the same values may be another event. */
  readonly afterRefusal: readonly string[];
}

function keysOf({ eventId, body }: ReceivedRequest): Keys {
  const bytes = `bytes ${eventId}`;
  if (body.length > MAX_BYTES_PARSED) return { exact: [bytes], afterRefusal: [] };
  const sent = objectIn(body.toString());
  const meant = sent ?? meantObject(body);
  const data = memberOf(meant, 'data');
  const values = JSON.stringify([valuesIn(memberOf(meant, 'event')), valuesIn(data).sort()]);
  return {
    exact: sent === undefined ? [bytes] : [bytes, `content ${sha256Hex(writeJson(sent, canonicalForm))}`],
    afterRefusal: data === undefined ? [] : [`values ${sha256Hex(values)}`],
  };
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
  const [plain] = inflated({ headers: [], body });
  if (plain !== undefined) return plain.length > MAX_BYTES_PARSED ? undefined : objectIn(plain.toString());
  return UTF_16.map(({ decode }) => objectIn(decode(body))).find((found) => found !== undefined);
}

/** Values without their names and types, which a correction may change: `{"shopId": 1}` becomes `{"shop_id": "1"}`. */
function valuesIn(node: JsonNode | undefined): string[] {
  return (node === undefined ? [] : nodesIn(node)).flatMap((inner) => {
    if (inner.kind === 'string') return [inner.value];
    return inner.kind === 'literal' && inner.text !== 'null' ? [inner.text] : [];
  });
}
