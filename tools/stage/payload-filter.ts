import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { ArchiveRecord } from '../../lambda/archive/record-schema.ts';
import { tableKey } from '../../lambda/effects/item-values.ts';
import { topLevelValue } from '../../lambda/events/top-level-value.ts';
import { HASHED_ID } from '../../lambda/hash.ts';
import { isObject, jsonOf, textOf } from './json.ts';

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
  const text = new TextDecoder().decode(payload);
  if (!text.includes('\\')) return text;
  const plain = text.replace(/\\(?:u([0-9a-f]{4})|(["\\/bfnrt]))/gi, (_, code?: string, character = '') =>
    code === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return `${text}\n${plain}`;
}

/** Event kind and shop of a payload, if they can be found. The shop's id has the form that archive and tables use. */
export function eventAndShop(payload: Uint8Array) {
  const event = jsonOf(new TextDecoder().decode(payload));
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

/** The name of each run of `npx hookctl acceptance` begins like this, and so does each id that the run sends. */
export const ACCEPTANCE_PREFIX = 'acceptance-';

/** Whether a record is of an acceptance run: its shop or another id of its data begins with the run's name. */
export const isOfAcceptance = ({ shopId, body }: Pick<ArchiveRecord, 'shopId' | 'body'>) =>
  shopId?.startsWith(ACCEPTANCE_PREFIX) || body?.includes(`_id":"${ACCEPTANCE_PREFIX}`);

const PREVIEW_LENGTH = 200;

/** Bytes of a body that are read. Parsing a longer one takes too long for a row of a list. */
const READ_BYTES = 16 * 1024;

/** A body in one line: the data of an event that is not long, otherwise the beginning of the body. */
export function payloadPreview(body: Uint8Array): string {
  const start = Buffer.from(body.subarray(0, READ_BYTES)).toString();
  const shown = (dataText(start) ?? start).slice(0, PREVIEW_LENGTH).replace(/[\ud800-\udbff]$/, '');
  return shown.replaceAll(/\s+/g, ' ').trim();
}

/** Strings, and the white space between values. */
const SPACE = /("(?:[^"\\]|\\.)*")|\s+/g;

/**
 * The data as it was sent, without white space.
 * @returns undefined if the body is not an event, or is cut off before its data
 */
function dataText(body: string): string | undefined {
  if (!isObject(jsonOf(body))) return undefined;
  return topLevelValue(body, 'data')?.replaceAll(SPACE, (_, string = '') => string);
}
