/**
 * The text of the value under a key of a JSON object, exactly as it was sent. `JSON.parse` would change it: it rounds
 * numbers, and V8 can confuse keys that are written with escapes (nodejs/node#63785). Takes linear time, and no memory
 * for the values.
 * @param json text that `JSON.parse` accepts, of an object
 * @returns the last value, as for `JSON.parse`, if several keys are equal; undefined if the object has no such key
 */
export function topLevelValue(json: string, key: string): string | undefined {
  const range = topLevelRange(json, key);
  return range && json.slice(...range);
}

/** Where {@link topLevelValue} is: the positions of its first character, and after its last one. */
export function topLevelRange(json: string, key: string): readonly [start: number, end: number] | undefined {
  let found: readonly [number, number] | undefined;
  let keyStart = json.indexOf('"');
  while (keyStart !== -1) {
    const keyEnd = endOfString(json, keyStart);
    const start = json.indexOf(':', keyEnd) + 1;
    const end = endOfValue(json, start);
    if (isKey(json.slice(keyStart, keyEnd), key)) {
      const value = json.slice(start, end);
      found = [start + value.length - value.trimStart().length, start + value.trimEnd().length];
    }
    keyStart = json.indexOf('"', end);
  }
  return found;
}

/** The position of the comma or brace after the value that starts here. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < json.length) {
    const character = json[at];
    if (depth === 0 && (character === ',' || character === '}')) break;
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    at = character === '"' ? endOfString(json, at) : at + 1;
  }
  return at;
}

/** The position after the closing quote of the string that starts here. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Length of the longest escape of a UTF-16 unit, such as `\u0064`. */
const ESCAPE_LENGTH = 6;

/** @param text a key as it was sent, with its quotes. V8 reads a string that is no key correctly */
function isKey(text: string, key: string): boolean {
  if (!text.includes('\\')) return text === `"${key}"`;
  return text.length <= ESCAPE_LENGTH * key.length + 2 && JSON.parse(text) === key;
}
