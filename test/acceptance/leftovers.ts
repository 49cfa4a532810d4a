import { type Answer, eventIdOf, toBytes } from './partner.ts';
import type { Outputs } from './target.ts';

/** Something that a delivery has left in the deployed stack, or is about to. */
export type Leftover =
  | ({ readonly kind: 'row' } & PlaceOfRow)
  /** Where nothing says whether the delivery writes it. */
  | ({ readonly kind: 'possible row' } & PlaceOfRow)
  | { readonly kind: 'message'; readonly queueUrl: string; readonly requestId: string }
  | { readonly kind: 'payload'; readonly key: string }
  /** The state of a replay. */
  | { readonly kind: 'replay'; readonly name: string };

export interface PlaceOfRow {
  readonly table: string;
  readonly key: Readonly<Record<string, string>>;
}

type TableOutput = 'ShopCacheTable' | 'CastTable' | 'ContactPartnerTable';

/** The output with each table, and the table's key. */
const TABLES = [
  ['ShopCacheTable', 'shop_id'],
  ['CastTable', 'girl_id'],
  ['ContactPartnerTable', 'user_id'],
] as const satisfies readonly (readonly [table: TableOutput, key: string])[];

/** Every place in the tables where an event with these ids may have a row. */
export function placesOfRow(outputs: Outputs, ids: readonly string[]): PlaceOfRow[] {
  return TABLES.flatMap(([table, key]) => ids.map((id) => ({ table: outputs[table], key: { [key]: id } })));
}

/**
 * Where the events that tests post by themselves leave a row: the output with its table, and the field of
 * `data` that is the key.
 */
const ROWS: Readonly<Record<string, readonly [table: TableOutput, key: string]>> = {
  'shop.updated': ['ShopCacheTable', 'shop_id'],
  'girl.created': ['CastTable', 'girl_id'],
  'girl.deleted': ['CastTable', 'girl_id'],
  'user.updated': ['ContactPartnerTable', 'user_id'],
};

/** Payloads from here on, in bytes, may be in the bucket: twice as long where a record of the archive escapes them. */
const MAYBE_STORED = 484 * 1024;

/** What a delivery leaves behind, by what was posted and answered. */
export function leftoversOf(outputs: Outputs, posted: unknown, answer: Answer): Leftover[] {
  const body = toBytes(posted);
  const requestId = String(answer.body.requestId);
  const payload = (folder: string): Leftover[] =>
    body.length < MAYBE_STORED ? [] : [{ kind: 'payload', key: `${folder}/${eventIdOf(body)}` }];

  if (answer.status === 400) {
    return [{ kind: 'message', queueUrl: outputs.QuarantineQueueUrl, requestId }, ...payload('quarantine')];
  }
  if (answer.status !== 200) return [];
  if (answer.body.status === 'parked') {
    return [{ kind: 'message', queueUrl: outputs.UnroutedQueueUrl, requestId }, ...payload('unrouted')];
  }
  const { event, data } = JSON.parse(body.toString()) as { event: string; data: Record<string, unknown> };
  const [table, key] = ROWS[event] ?? [];
  if (table === undefined || key === undefined) return payload(event);
  return [{ kind: 'row', table: outputs[table], key: { [key]: String(data[key]) } }, ...payload(event)];
}
