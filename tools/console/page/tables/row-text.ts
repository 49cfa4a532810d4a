import type { Item } from '../../../stage/history/facts.ts';

/** Attributes that stand beside the key in the list of rows; the others are seen once a row is opened. */
const MOST_COLUMNS = 4;

/** Characters of a value in the list. */
const LONGEST_CELL = 60;

/** Characters of a value that stands in a line of its own. */
const LONGEST_LINE = 120;

/** The same of JSON. */
const LONGEST_JSON = 40;

/** What tells rows apart at once, before whatever else they have. */
const FIRST = ['status', 'name', 'display_name', 'shop_id', 'updated_at'];

/** What is left to the opened row: versions of single fields, and what the partner sent. */
const LAST = /version|^data$|expires/;

/** Attributes of rows that the list has columns for, the key first. */
export function columnsOf(rows: readonly Item[], key: string): readonly string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== key);
  const rank = (name: string) => {
    const place = FIRST.indexOf(name);
    if (place !== -1) return place;
    return LAST.test(name) ? FIRST.length + 1 : FIRST.length;
  };
  const ordered = names.sort((one, other) => rank(one) - rank(other) || one.localeCompare(other));
  return [key, ...ordered.slice(0, MOST_COLUMNS)];
}

/** Attributes of one row, the key first, then by name. */
export function attributesOf(row: Item, key: string): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(row).sort(
    ([one], [other]) => Number(other === key) - Number(one === key) || one.localeCompare(other),
  );
}

/** A value in one line; nothing where the row lacks it. */
export function cellText(value: unknown): string {
  if (value === undefined) return '';
  const text = valueText(value);
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > LONGEST_CELL ? `${line.slice(0, LONGEST_CELL - 1)}…` : line;
}

/** A value as text. */
export const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Whether a value takes more than a line: it is long, or has lines. JSON, such as what the partner sent, may be shorter. */
export const isBlock = (text: string) =>
  text.includes('\n') || text.length > (/^\s*[[{]/.test(text) ? LONGEST_JSON : LONGEST_LINE);

/** A table's name for people: `Shop cache` of `ShopCacheTable`. */
export function tableTitle(output: string): string {
  const words = output.replace(/Table$/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
