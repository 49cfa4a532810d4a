import { topLevelRange } from '../../../../lambda/events/top-level-value.ts';

/**
 * Maximum depth of values that are formatted. Indentation grows with each level: a deep text could fill the memory.
 */
const MAX_DEPTH = 40;

/** Strings, punctuation, and numbers or words of a JSON text. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Why a text is not JSON, as a sentence of the browser. Undefined if it is JSON. */
export function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `Not JSON: ${error instanceof Error ? error.message : error}`;
  }
}

/**
 * Formats JSON text for people. Changes only white space outside strings: numbers, strings and duplicate keys
 * stay as written, such as `1.0`, `1e999` and `"\u0041"`.
 * @returns undefined if the text is not JSON, or is too deep
 */
export function formatted(text: string): string | undefined {
  if (jsonFault(text) !== undefined) return undefined;
  const parts: string[] = [];
  let depth = 0;
  let before = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (isClosing(token)) depth -= 1;
    const isEmpty = isClosing(token) && isOpening(before);
    if ((isClosing(token) || isOpening(before) || before === ',') && !isEmpty) {
      parts.push('\n', '  '.repeat(depth));
    }
    parts.push(token === ':' ? ': ' : token);
    if (isOpening(token)) depth += 1;
    if (depth > MAX_DEPTH) return undefined;
    before = token;
  }
  return parts.join('');
}

const isOpening = (token: string) => token === '{' || token === '[';
const isClosing = (token: string) => token === '}' || token === ']';

/**
 * Sets the value of the top-level key `timestamp` to the current time and changes nothing else.
 * @returns undefined if the text is not a JSON object with this key
 */
export function withTimestamp(text: string, now = new Date()): string | undefined {
  if (!text.trimStart().startsWith('{') || jsonFault(text) !== undefined) return undefined;
  const range = topLevelRange(text, 'timestamp');
  if (range === undefined) return undefined;
  const [start, end] = range;
  return text.slice(0, start) + JSON.stringify(now.toISOString()) + text.slice(end);
}
