import { Option } from '@commander-js/extra-typings';
import { HASHED_KEY, tableKey } from '../../lambda/effects/table-key.ts';
import { isObject, jsonOf, textOf } from './history/json.ts';

/** Selects payloads. An absent property matches all. */
export interface PayloadFilter {
  /** The whole id of a shop, as the partner writes it. */
  readonly shop?: string | undefined;
  /** A text in the payload, in any case. */
  readonly search?: string | undefined;
}

export const shopOption = () => new Option('--shop <id>', 'only this shop: its whole id');

export const searchOption = () =>
  new Option('--search <text>', 'only payloads that contain this text; ignores case');

/** @param payload the partner's bytes */
export function matchesPayload({ shop, search }: PayloadFilter, payload: Uint8Array): boolean {
  const matchesShop = shop === undefined || isOfShop(shop, eventAndShop(payload).shopId);
  return matchesShop && (search === undefined || contains(payload, search));
}

/**
 * @param shop as the partner writes it, or its hash, as the archive shows it
 * @param shopId in the form that archive and tables use
 */
export const isOfShop = (shop: string, shopId: string | undefined) =>
  shopId === (HASHED_KEY.test(shop) ? shop : tableKey(shop));

/** Also finds a text whose characters the partner wrote as JSON escapes, such as `\u3042`. */
function contains(payload: Uint8Array, search: string): boolean {
  const text = textOfPayload(payload);
  const unescaped = JSON.stringify(jsonOf(text)) ?? '';
  return [text, unescaped].some((one) => one.toLowerCase().includes(search.toLowerCase()));
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
