import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { ArchiveRecord } from '../../lambda/archive/record.ts';
import { tableKey } from '../../lambda/effects/table-key.ts';
import { HASHED_ID } from '../../lambda/hash.ts';
import { isObject, jsonOf, textOf } from './history/json.ts';

/** Selects payloads. An absent property matches all. */
export interface PayloadFilter {
  /** The whole id of a shop, as the partner writes it. */
  readonly shop?: string | undefined;
  /** A text in the payload, in any case. */
  readonly search?: string | undefined;
}

export const shopOption = (what = 'only this shop: its whole id') => new Option('--shop <id>', what);

export const searchOption = (what = 'only payloads that contain this text; ignores case') =>
  new Option('--search <text>', what).argParser((text) => {
    if (text.trim() !== '') return text;
    throw new InvalidArgumentError('It is empty.');
  });

/** @param payload the partner's bytes */
export function matchesPayload({ shop, search }: PayloadFilter, payload: Uint8Array): boolean {
  const matchesShop = shop === undefined || isOfShop(shop, eventAndShop(payload).shopId);
  return matchesShop && (search === undefined || contains(payload, search));
}

/** Whether an archived delivery matches. The record of a replay has no payload. */
export function matchesRecord({ shop, search }: PayloadFilter, { shopId, body }: ArchiveRecord): boolean {
  const matchesShop = shop === undefined || isOfShop(shop, shopId);
  return matchesShop && (search === undefined || (body !== undefined && contains(Buffer.from(body), search)));
}

/**
 * @param shop as the partner writes it, or its hash, as the archive shows it
 * @param shopId in the form that archive and tables use
 */
export const isOfShop = (shop: string, shopId: string | undefined) =>
  shopId === (HASHED_ID.test(shop) ? shop : tableKey(shop));

const contains = (payload: Uint8Array, search: string) =>
  searchableText(payload).toLowerCase().includes(search.toLowerCase());

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** A payload as sent and, if that differs, without JSON escapes such as `\u3042`. */
export function searchableText(payload: Uint8Array): string {
  const text = textOfPayload(payload);
  if (!text.includes('\\')) return text;
  const plain = text.replace(/\\(?:u([0-9a-f]{4})|(["\\/bfnrt]))/gi, (_, code?: string, character = '') =>
    code === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return `${text}\n${plain}`;
}

/** Event kind and shop of a payload, if they can be found. The shop's id has the form that archive and tables use. */
export function eventAndShop(payload: Uint8Array) {
  const event = jsonOf(textOfPayload(payload));
  if (!isObject(event)) return { event: undefined, shopId: undefined };
  return {
    event: textOf(event.event),
    shopId: isObject(event.data) ? shopOf(event.data.shop_id) : undefined,
  };
}

function shopOf(value: unknown): string | undefined {
  if (typeof value !== 'number' && textOf(value) === undefined) return undefined;
  return tableKey(String(value));
}

/** The text of a payload without its byte-order mark, which the receiver accepts and JSON parsers do not. */
const textOfPayload = (payload: Uint8Array) => new TextDecoder().decode(payload);
