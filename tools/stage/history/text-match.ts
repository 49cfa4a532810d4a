import type { Delivery } from './history.ts';

/** Characters around a match, so that it is visible in a narrow column, and a reader knows what it belongs to. */
const BEFORE = 20;
const AFTER = 160;

/** Pattern that matches a text as {@link HistoryStore.list} does: as characters, without regard to case. */
export const searchPattern = (search: string) =>
  new RegExp(RegExp.escape(search.replaceAll('\0', ' ')), 'iu');

/**
 * The first match of a text and the text around it, in one line.
 * @returns undefined if nothing matches
 */
export function matchIn(text: string, pattern: RegExp): Delivery['match'] {
  const found = pattern.exec(text);
  if (found === null) return undefined;
  const [match] = found;
  const start = Math.max(0, found.index - BEFORE);
  const end = found.index + match.length;
  // Half of a surrogate pair at the edge would be displayed as a wrong character.
  const before = text.slice(start, found.index).replace(/^[\udc00-\udfff]/, '');
  const after = text.slice(end, end + AFTER).replace(/[\ud800-\udbff]$/, '');
  return [`${start === 0 ? '' : '…'}${inLine(before)}`, inLine(match), inLine(after)];
}

const inLine = (text: string) => text.replaceAll(/\s+/g, ' ');
