import { createHash } from 'node:crypto';
import type { Row } from './tables.ts';

/** A delivery of an event that changes state: the payload's bytes, and when they were received. */
export interface ReceivedDelivery {
  readonly body: string;
  /** ISO 8601. Matters only for a `timestamp` that is later. */
  readonly receivedAt: string;
}

export interface ExpectedState {
  readonly shops: Map<string, Row>;
  readonly cast: Map<string, Row>;
  readonly contacts: Map<string, Row>;
}

interface Payload {
  readonly event: string;
  readonly timestamp: string;
  readonly data: Record<string, string | string[]>;
}

/** How far a `timestamp` may be ahead of its first receipt (decision D8). */
export const FIVE_MINUTES = 5 * 60_000;

/** Fields of a contact, each with its own version. */
const CONTACT_FIELDS = ['shop_id', 'display_name', 'profile_image_url'];

/**
 * Expected content of the tables after a set of deliveries: applies them naively, in the order of their versions.
 * Written without the code under test. Timestamps must have the format of `Date.toISOString()`.
 * @param deliveries in the order of processing: the first copy of an event decides its version (decision D8)
 */
export function expectedState(deliveries: readonly ReceivedDelivery[]): ExpectedState {
  const state: ExpectedState = { shops: new Map(), cast: new Map(), contacts: new Map() };
  const first = new Map([...deliveries].reverse().map((delivery) => [delivery.body, delivery]));
  const versioned = [...first.values()].map((delivery) => ({
    payload: JSON.parse(delivery.body) as Payload,
    version: versionOf(delivery),
  }));
  versioned.sort((a, b) => (a.version < b.version ? -1 : 1));
  for (const { payload, version } of versioned) apply(state, payload, version);
  return state;
}

/** The version that the first delivery of an event gives to the state that it writes. */
export function versionOf({ body, receivedAt }: ReceivedDelivery): string {
  const { timestamp } = JSON.parse(body) as Payload;
  const counted = Math.min(Date.parse(timestamp), Date.parse(receivedAt) + FIVE_MINUTES);
  const moment = new Date(counted).toISOString().replace('Z', '000000Z');
  return `${moment}#${createHash('sha256').update(body).digest('hex')}`;
}

function apply({ shops, cast, contacts }: ExpectedState, { event, data }: Payload, version: string): void {
  switch (event) {
    case 'shop.updated':
      shops.set(String(data.shop_id), { ...data, version });
      break;
    case 'girl.created':
      cast.set(String(data.girl_id), { ...data, status: 'active', data: asSent(data), version });
      break;
    case 'girl.deleted':
      cast.set(String(data.girl_id), {
        girl_id: data.girl_id,
        shop_id: data.shop_id,
        status: 'deleted',
        version,
      });
      break;
    case 'user.updated':
      contacts.set(String(data.user_id), {
        ...contacts.get(String(data.user_id)),
        ...data,
        ...Object.fromEntries(
          CONTACT_FIELDS.filter((name) => name in data).map((name) => [`${name}_version`, version]),
        ),
        version,
      });
      break;
  }
}

/** `data` as the queue has it: SQS forbids two characters, which are sent as JSON escapes (decision D14). */
const asSent = (data: Payload['data']) =>
  JSON.stringify(data).replaceAll('\ufffe', '\\ufffe').replaceAll('\uffff', '\\uffff');

/** Columns that differ between histories with the same final state: times, and what readers of the cache compare. */
const INCIDENTAL = /^(updated_at|invalidated_at|expires_at|invalidation)$/;

/** The item without absent and {@link INCIDENTAL} columns, for comparison. */
export function essence(row: Row | undefined): Row | undefined {
  return (
    row &&
    Object.fromEntries(
      Object.entries(row).filter(([name, value]) => value !== undefined && !INCIDENTAL.test(name)),
    )
  );
}
