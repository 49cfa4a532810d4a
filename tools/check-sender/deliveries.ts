import type { EventName } from '../../lambda/contract/catalogue.ts';
import { sha256Hex } from '../../lambda/hash.ts';
import { type JsonNode, jsonTree, memberOf } from './payload/json-tree.ts';
import { jsonForms, writeJson } from './signature/json-forms.ts';

/** Deliveries that are remembered, by hashes alone; beyond, the oldest is forgotten. */
const MOST_DELIVERIES = 10_000;

/** Requests of one delivery that are remembered; beyond, they are only counted. */
const MOST_ATTEMPTS = 1_000;

/** Bytes of a body above which only its hash is compared. */
const MOST_BYTES_PARSED = 256 * 1024;

/** How one request ended: with an answer, or without. */
export type Ending = number | 'cut' | 'gave up';

export interface Attempt {
  /** Milliseconds, of one clock. */
  readonly at: number;
  /** Undefined while it is under way. */
  ending: Ending | undefined;
  readonly connection: number;
  /** Whether another request came before it on the same connection. */
  readonly isReused: boolean;
  /** Whether its bytes are those of the delivery's first request. */
  readonly isSameBytes: boolean;
  /** Whether its signature is that of the first with these bytes. */
  readonly isSameSignature: boolean;
}

/** One event as its sender sends it, again and again until it is accepted. */
export interface Delivery {
  readonly number: number;
  /** Of the first request. */
  readonly eventId: string;
  event: EventName | undefined;
  readonly attempts: Attempt[];
  /** Attempts beyond those that are remembered, too. */
  count: number;
}

/** What a request says of itself. */
export interface Sighting {
  readonly at: number;
  readonly eventId: string;
  readonly body: Buffer;
  readonly event: EventName | undefined;
  readonly signature: string;
  readonly connection: number;
  readonly isReused: boolean;
}

/**
 * Tells which requests are of one delivery: those with the same bytes; and those with other bytes that carry the same
 * content in another notation, or, after a refusal, the same data under another timestamp. `webhookId` tells nothing: it
 * may name a subscription (decision D6).
 */
export class Deliveries {
  readonly #all = new Map<string, { delivery: Delivery; keys: string[] }>();
  readonly #byKey = new Map<string, string>();
  readonly #signatures = new Map<string, string>();
  #number = 0;

  /** Remembers a request under way. */
  note(sighting: Sighting): { delivery: Delivery; attempt: Attempt } {
    const { at, eventId, connection, isReused } = sighting;
    const keys = keysOf(sighting);
    const delivery = this.#find(keys) ?? this.#add(sighting, keys);
    const signature = sha256Hex(sighting.signature);
    const before = this.#signatures.get(eventId);
    if (before === undefined) this.#signatures.set(eventId, signature);
    const attempt: Attempt = {
      at,
      ending: undefined,
      connection,
      isReused,
      isSameBytes: eventId === delivery.eventId,
      isSameSignature: before === undefined || before === signature,
    };
    delivery.count += 1;
    delivery.event ??= sighting.event;
    if (delivery.attempts.length < MOST_ATTEMPTS) delivery.attempts.push(attempt);
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
      const isRefused = delivery.attempts.at(-1)?.ending !== 200;
      if (keys.exact.includes(key) || isRefused) return delivery;
    }
    return undefined;
  }

  #add({ eventId, event }: Sighting, keys: Keys): Delivery {
    this.#number += 1;
    const delivery: Delivery = { number: this.#number, eventId, event, attempts: [], count: 0 };
    const all = [...keys.exact, ...keys.afterRefusal];
    this.#all.set(eventId, { delivery, keys: all });
    for (const key of all) this.#byKey.set(key, eventId);
    if (this.#all.size > MOST_DELIVERIES) this.#forgetOldest();
    return delivery;
  }

  #forgetOldest(): void {
    const [oldest] = this.#all;
    if (oldest === undefined) return;
    const [eventId, { keys }] = oldest;
    this.#all.delete(eventId);
    this.#signatures.delete(eventId);
    for (const key of keys) if (this.#byKey.get(key) === eventId) this.#byKey.delete(key);
  }
}

interface Keys {
  /** Each names the delivery. */
  readonly exact: readonly string[];
  /** Each names it where it was not accepted yet: otherwise it may well be another event. */
  readonly afterRefusal: readonly string[];
}

function keysOf({ eventId, body }: Sighting): Keys {
  const bytes = `bytes ${eventId}`;
  const tree = body.length > MOST_BYTES_PARSED ? undefined : jsonTree(body.toString().replace(/^\uFEFF/, ''));
  if (tree?.kind !== 'object') return { exact: [bytes], afterRefusal: [] };
  const event = canonical(memberOf(tree, 'event'));
  const data = canonical(memberOf(tree, 'data'));
  return {
    exact: [bytes, `content ${sha256Hex(canonical(tree))}`],
    afterRefusal: data === '' ? [] : [`data ${sha256Hex(`${event} ${data}`)}`],
  };
}

/** The same for the same content, however it is written. */
function canonical(node: JsonNode | undefined): string {
  const form = jsonForms.find(({ sorted }) => sorted);
  return node === undefined || form === undefined ? '' : writeJson(node, form);
}
