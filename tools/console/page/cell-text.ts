import type { PlainItem } from '../../stage/history/facts.ts';
import { shortId } from './ui/copy.tsx';

/** A value of an item in one line, with shortened hashes. Empty if the item has no such attribute. */
export function cellText(value: unknown): string {
  if (value === undefined) return '';
  const line = valueText(value)
    .slice(0, CELL_LENGTH)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(HASH, (hash) => `${shortId(hash)}…`);
  return valueText(value).length > CELL_LENGTH ? `${line}…` : line;
}

/** Maximum characters of a value in a table cell. CSS hides what the column has no space for. */
const CELL_LENGTH = 200;

/** A SHA-256 in hex. Versions of items contain the id of an event, which is such a hash. */
const HASH = /\b[0-9a-f]{64}\b/g;

/** Maximum characters of a text, or of JSON, that are shown in one line. */
const LINE_LENGTH = { text: 120, json: 40 };

/** Attributes by which a reader recognises an item. Their columns come first, in this order. */
const FIRST = ['status', 'name', 'display_name', 'shop_id', 'updated_at'];

/** Attributes of little interest, such as versions. They get a column only if there is space. */
const LAST = /version|expires/;

/** Attribute with the partner's data. Its column is the last one, which is the widest. */
const DATA = 'data';

/**
 * Attributes to show as columns, the key first.
 * @param count maximum number of columns besides the key and `data`
 */
export function columnNames(items: readonly PlainItem[], key: string, count: number): readonly string[] {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))].filter((name) => name !== key);
  const rank = (name: string) => {
    const place = FIRST.indexOf(name);
    if (place !== -1) return place;
    return LAST.test(name) ? FIRST.length + 1 : FIRST.length;
  };
  const shown = names
    .filter((name) => name !== DATA)
    .sort((one, other) => rank(one) - rank(other) || one.localeCompare(other))
    .slice(0, count);
  return [key, ...shown, ...(names.includes(DATA) ? [DATA] : [])];
}

/** All attributes of an item: the key first, the others sorted by name. */
export function attributesOf(
  item: PlainItem,
  key: string,
): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(item).sort(
    ([one], [other]) => Number(other === key) - Number(one === key) || one.localeCompare(other),
  );
}

export const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Whether a value needs more than one line. */
export const isBlock = (text: string) =>
  text.includes('\n') || text.length > (/^\s*[[{]/.test(text) ? LINE_LENGTH.json : LINE_LENGTH.text);

/** A table's name for people: `Shop cache` for `ShopCacheTable`. */
export function tableTitle(output: string): string {
  const words = output.replace(/Table$/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
