import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { versionOf } from '../../../lambda/effects/event-order.ts';
import { tableKey } from '../../../lambda/effects/table-key.ts';
import { catalogue } from '../../../lambda/events/catalogue.ts';
import type { EffectName } from '../../../lambda/events/definition.ts';
import { parsePayloadText } from '../../../lambda/events/envelope.ts';
import type { ItemEffect, PlainItem } from './facts.ts';
import { isObject } from './json.ts';

/**
 * Where each effect writes: the output with the table's name, and the field of `data` with the item's key. Topics have
 * no items.
 */
const WRITES: Readonly<Record<EffectName, { readonly table: string; readonly id: string } | undefined>> = {
  'shop-cache': { table: 'ShopCacheTable', id: 'shop_id' },
  cast: { table: 'CastTable', id: 'girl_id' },
  'contact-partner': { table: 'ContactPartnerTable', id: 'user_id' },
  chat: undefined,
  review: undefined,
};

/** The item that an event changes. */
interface ItemOfEvent {
  /** Name of the stack output. */
  readonly table: string;
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
  const id: unknown = Object.entries(data).find(([name]) => name === writes.id)?.[1];
  if (typeof id !== 'string') return undefined;
  const { receivedAt, eventId } = record;
  const version = versionOf({ timestamp, receivedAt, eventId });
  return { table: writes.table, key: tableKey(id), eventId, version };
}

/** The item as it is now, and whether this event wrote it. AWS keeps no earlier versions. */
export function itemNow(written: ItemOfEvent, item: PlainItem | undefined): ItemEffect {
  const { table, key } = written;
  return { kind: 'item', table, key, now: item ?? null, ...writtenBy(written, item) };
}

/**
 * A contact also has a version for each field (decision D8). If one of them is this event's, this event wrote the item.
 */
function writtenBy(
  { eventId, version }: ItemOfEvent,
  item: PlainItem | undefined,
): Pick<ItemEffect, 'written'> {
  const versions = Object.entries(item ?? {}).filter(([name]) => /(^|_)version$/.test(name));
  if (versions.some(([, value]) => String(value).endsWith(`#${eventId}`)))
    return { written: 'by this event' };
  const newest = item?.version;
  return typeof newest === 'string' && newest > version ? { written: 'by a newer event' } : {};
}

/** An item as plain JSON. Numbers that JavaScript cannot represent become strings, and bytes become base64. */
export function plainItem(item: Readonly<Record<string, object>>): PlainItem {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plainValue(value)]));
}

function plainValue(attribute: unknown): unknown {
  const [[type, value] = []] = Object.entries(isObject(attribute) ? attribute : {});
  if (type === 'N') return plainNumber(value);
  if (type === 'NULL') return null;
  if (type === 'L' && Array.isArray(value)) return value.map(plainValue);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (type === 'BS' && Array.isArray(value)) return value.map((bytes) => plainValue({ B: bytes }));
  if (type === 'NS' && Array.isArray(value)) return value.map(plainNumber);
  if (type === 'M' && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plainValue(inner)]));
  }
  return value;
}

function plainNumber(text: unknown): unknown {
  const value = Number(text);
  return String(value) === text ? value : text;
}
