import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { versionOf } from '../../../lambda/effects/event-order.ts';
import { tableKey } from '../../../lambda/effects/item-values.ts';
import { catalogue } from '../../../lambda/events/catalogue.ts';
import type { EffectName } from '../../../lambda/events/definition.ts';
import { parsePayloadText } from '../../../lambda/events/envelope.ts';
import type { ItemEffect, PlainItem } from './facts.ts';

/**
 * Where each effect writes: the output with the table's name, and the field of `data` with the item's key, which
 * is also the name of the table's key. Topics have
 * no items.
 */
const WRITES: Readonly<Record<EffectName, { readonly table: string; readonly id: string } | undefined>> = {
  'shop-cache': { table: 'ShopCacheTable', id: 'shop_id' },
  cast: { table: 'CastTable', id: 'girl_id' },
  'contact-partner': { table: 'ContactPartnerTable', id: 'user_id' },
  chat: undefined,
  review: undefined,
};

interface ItemOfEvent {
  readonly table: string;
  /** Name of the table's key. */
  readonly id: string;
  readonly key: string;
  readonly eventId: string;
  /**
   * The version that the event gave the item. If the timestamp was too far ahead, the first receipt decided, and the
   * version may be lower (decision D8).
   */
  readonly version: string;
}

/** @returns undefined if the event changes no item, or its payload is unknown or unusable */
export function itemOfEvent(record: ArchiveRecord, payload: Uint8Array): ItemOfEvent | undefined {
  const writes = WRITES[catalogue[record.event].effect];
  if (writes === undefined) return undefined;
  const parsed = parsePayloadText(Buffer.from(payload).toString());
  if (parsed.kind !== 'event') return undefined;
  const { data, timestamp } = parsed.event;
  const value: unknown = Object.entries(data).find(([name]) => name === writes.id)?.[1];
  if (typeof value !== 'string') return undefined;
  const { receivedAt, eventId } = record;
  const version = versionOf({ timestamp, receivedAt, eventId });
  return { ...writes, key: tableKey(value), eventId, version };
}

/** The item as it is now, and whether this event wrote it. AWS keeps no earlier versions. */
export function itemNow(
  { table, key, eventId, version }: ItemOfEvent,
  item: PlainItem | undefined,
): ItemEffect {
  const effect = { kind: 'item', table, key, now: item ?? null } as const;
  // A contact also has a version for each field (decision D8).
  const versions = Object.entries(item ?? {}).filter(([name]) => /(^|_)version$/.test(name));
  if (versions.some(([, value]) => String(value).endsWith(`#${eventId}`)))
    return { ...effect, written: 'by this event' };
  const isNewer = typeof item?.version === 'string' && item.version > version;
  return isNewer ? { ...effect, written: 'by a newer event' } : effect;
}

/**
 * An item as plain JSON. Numbers that JavaScript cannot represent become strings.
 * @param item in DynamoDB's JSON
 */
export const plainItem = (item: Readonly<Record<string, object>>): PlainItem =>
  unmarshall(item as Parameters<typeof unmarshall>[0], {
    wrapNumbers: (text) => (String(Number(text)) === text ? Number(text) : text),
  });
