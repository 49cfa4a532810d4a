import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import { versionOf } from '../../lambda/consumers/version.ts';
import { catalogue, type EffectName } from '../../lambda/contract/catalogue.ts';
import { parsePayloadText } from '../../lambda/contract/envelope.ts';
import { tableKey } from '../../lambda/effects/table-key.ts';
import type { Row, RowEffect } from './api.ts';

/** Where an effect writes: the stack's output, and the field of `data` that names the row. Topics have no rows. */
const WRITES: Readonly<Record<EffectName, { readonly table: string; readonly id: string } | undefined>> = {
  'shop-cache': { table: 'ShopCacheTable', id: 'shop_id' },
  cast: { table: 'CastTable', id: 'girl_id' },
  'contact-partner': { table: 'ContactPartnerTable', id: 'user_id' },
  chat: undefined,
  review: undefined,
};

/** The row that an event is about, and the version that it gave to it. */
export interface RowOfEvent {
  /** Output of the stack. */
  readonly table: string;
  readonly key: string;
  readonly version: string;
}

/** @returns undefined where it is about no row, or its payload is not known or not usable */
export function rowOfEvent(record: ArchiveRecord, payload: Uint8Array): RowOfEvent | undefined {
  const writes = WRITES[catalogue[record.event].effect];
  if (writes === undefined) return undefined;
  const parsed = parsePayloadText(Buffer.from(payload).toString());
  if (parsed.kind !== 'event') return undefined;
  const { data, timestamp } = parsed.event;
  const id: unknown = Object.entries(data).find(([name]) => name === writes.id)?.[1];
  if (typeof id !== 'string') return undefined;
  const { receivedAt, eventId } = record;
  return { table: writes.table, key: tableKey(id), version: versionOf({ timestamp, receivedAt, eventId }) };
}

/** The row as it is now, and whose it is: AWS keeps no former ones. */
export function rowNow({ table, key, version }: RowOfEvent, row: Row | undefined): RowEffect {
  return { kind: 'row', table, key, now: row ?? null, ...writtenBy(version, row) };
}

/** A contact has a version for each field besides (decision D8): one that is of this event makes the row its own. */
function writtenBy(version: string, row: Row | undefined): Pick<RowEffect, 'written'> {
  const versions = Object.entries(row ?? {}).filter(([name]) => /(^|_)version$/.test(name));
  if (versions.some(([, value]) => value === version)) return { written: 'by this event' };
  const newest = row?.version;
  return typeof newest === 'string' && newest > version ? { written: 'by a newer event' } : {};
}
