import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { tableKey } from '../../../lambda/effects/item-values.ts';
import { catalogue } from '../../../lambda/events/catalogue.ts';
import type { EffectName } from '../../../lambda/events/definition.ts';
import { parsePayloadText } from '../../../lambda/events/envelope.ts';
import type { ItemEffect, PlainItem } from './facts.ts';

/**
 * Where each effect writes: the output with the table's name, and the field of `data` with the item's key, which is also
 * the name of the table's key. Topics have no items.
 */
const WRITES: Readonly<Record<EffectName, { readonly table: string; readonly id: string } | undefined>> = {
  'shop-cache': { table: 'ShopCacheTable', id: 'shop_id' },
  cast: { table: 'CastTable', id: 'girl_id' },
  'contact-partner': { table: 'ContactPartnerTable', id: 'user_id' },
  chat: undefined,
  review: undefined,
};

/** @returns undefined if the event changes no item, or its payload is unknown or unusable */
export function itemOfEvent({ event }: ArchiveRecord, payload: Uint8Array) {
  const writes = WRITES[catalogue[event].effect];
  const parsed = parsePayloadText(Buffer.from(payload).toString());
  if (writes === undefined || parsed.kind !== 'event') return undefined;
  const value: unknown = Object.entries(parsed.event.data).find(([name]) => name === writes.id)?.[1];
  return typeof value === 'string' ? { ...writes, key: tableKey(value) } : undefined;
}

/** The item as it is now, and whether this event wrote it. AWS keeps no earlier versions. */
export function itemNow(
  { table, key }: NonNullable<ReturnType<typeof itemOfEvent>>,
  eventId: string,
  item: PlainItem | undefined,
): ItemEffect {
  const effect = { kind: 'item', table, key, now: item ?? null } as const;
  if (item === undefined) return effect;
  return { ...effect, written: writersOf(item).has(eventId) ? 'by this event' : 'by another event' };
}

/** The ids of the events that wrote an item: its versions end with them (decision D8). */
export const writersOf = (item: PlainItem | null): ReadonlySet<string> =>
  new Set(Object.values(item ?? {}).flatMap((value) => /#([0-9a-f]{64})$/.exec(String(value))?.[1] ?? []));

/**
 * An item as plain JSON. Numbers that JavaScript cannot represent become strings.
 * @param item in DynamoDB's JSON
 */
export const plainItem = (item: Readonly<Record<string, object>>): PlainItem =>
  unmarshall(item as Parameters<typeof unmarshall>[0], {
    wrapNumbers: (text) => (String(Number(text)) === text ? Number(text) : text),
  });
