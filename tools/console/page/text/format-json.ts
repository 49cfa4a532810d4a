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

/**
 * Sets the value of the top-level key `timestamp` and changes nothing else. If the key occurs more than once,
 * the last one changes, because parsers use the last.
 * @returns undefined if the text is not a JSON object with this key
 */
export function withTimestamp(text: string, now: Date): string | undefined {
  if (!text.trimStart().startsWith('{') || jsonFault(text) !== undefined) return undefined;
  const tokens = topLevelTokens(text);
  const colon = tokens.findLastIndex(
    ({ token }, at) => token === ':' && JSON.parse(tokens[at - 1]?.token ?? '') === 'timestamp',
  );
  const [value, close] = tokens.slice(colon + 1);
  if (colon === -1 || value === undefined) return undefined;
  const last = isOpening(value.token) && close !== undefined ? close : value;
  const end = last.index + last.token.length;
  return text.slice(0, value.index) + JSON.stringify(now.toISOString()) + text.slice(end);
}

const isOpening = (token: string) => token === '{' || token === '[';
const isClosing = (token: string) => token === '}' || token === ']';

/** Tokens of an object's members: of a value that is an object or an array, the first and the last. */
function topLevelTokens(text: string) {
  let depth = 0;
  return [...text.matchAll(TOKEN)].flatMap(({ 0: token, index }) => {
    if (isClosing(token)) depth -= 1;
    const isTop = depth === 1;
    if (isOpening(token)) depth += 1;
    return isTop ? [{ token, index }] : [];
  });
}
