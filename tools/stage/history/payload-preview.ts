import { topLevelValue } from '../../../lambda/events/top-level-value.ts';
import { isObject, jsonOf } from './json.ts';

const PREVIEW_LENGTH = 200;

/** Bytes of a body that are read. Parsing a longer one takes too long for a row of a list. */
const READ_BYTES = 16 * 1024;

/** Matches the text before the `data` of an event whose other members are plain values. */
const BEFORE_DATA = /^\s*\{(?:\s*"[^"\\]*"\s*:\s*(?:"[^"\\]*"|[\w.+-]+)\s*,)*?\s*"data"\s*:\s*/;

/** A body in one line: the data of an event, otherwise the beginning of the body. */
export function payloadPreview(body: Uint8Array): string {
  const start = Buffer.from(body.subarray(0, READ_BYTES)).toString();
  const text = body.length > READ_BYTES ? start.replace(BEFORE_DATA, '') : (dataText(start) ?? start);
  const shown = text.slice(0, PREVIEW_LENGTH).replace(/[\ud800-\udbff]$/, '');
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
