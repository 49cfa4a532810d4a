import { parsePayloadText } from '../../../lambda/events/envelope.ts';
import { isObject, jsonOf } from '../json.ts';

/** A person whom events name in the field `<kind>_id` of their data. */
export interface Person {
  readonly kind: 'user' | 'girl';
  readonly id: string;
}

/** A place where a stage may have a person's data. */
export interface PlaceOfPerson {
  /** What would be removed, in lines for people. Empty if nothing was found. */
  readonly found: readonly string[];
  /** What could not be searched. */
  readonly unsearched?: readonly string[];
  /** What a person must know after the removal. */
  readonly left?: readonly string[];
  /** Removes what was found. @returns lines about what could not be removed */
  readonly remove: () => Promise<readonly string[]>;
}

/**
 * How a payload names a person. `field`: in the expected field. `text`: anywhere, because the payload is no event of a
 * kind that we know.
 */
export type Mention = 'field' | 'text';

/** Notations in which JSON may hide an id: escaped characters, and numbers such as `1.2345678E7`. */
const OTHER_NOTATION = /\\|"\s*:\s*-?\d+[.eE]/;

export function mentionIn(payload: string, persons: readonly Person[]): Mention | undefined {
  // A fast check, because parsing is slow and most payloads do not match.
  const possible = persons.filter(({ id }) => payload.includes(id) || OTHER_NOTATION.test(payload));
  if (possible.length === 0) return undefined;
  const data = dataOf(payload);
  const fields = possible.map(({ kind }) => data[`${kind}_id`]);
  if (possible.some(({ id }, index) => isId(fields[index]) && String(fields[index]) === id)) return 'field';
  // Numbers above 2^53 lose precision when parsed.
  const isExact = fields.every((field) => typeof field !== 'number' || Number.isSafeInteger(field));
  if (isExact && parsePayloadText(payload).kind === 'event') return undefined;
  return mentionInText(payload, possible);
}

/** A number of JSON that is no part of a longer word or number. */
const JSON_NUMBER = /(?<![\p{L}\p{N}.])-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\p{L}\p{N}])/gu;

/** Matches whole ids only, not parts of a longer word or number. */
export function mentionInText(text: string, persons: readonly Person[]): Mention | undefined {
  const numbers = new Set(text.match(JSON_NUMBER)?.map((number) => String(Number(number))));
  const found = persons.some(
    ({ id }) =>
      (numbers.has(id) && Number.isSafeInteger(Number(id))) ||
      [id, JSON.stringify(id).slice(1, -1)].some((form) =>
        new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(form)}(?![\\p{L}\\p{N}])`, 'u').test(text),
      ),
  );
  return found ? 'text' : undefined;
}

const isId = (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value);

function dataOf(payload: string): Record<string, unknown> {
  const event = jsonOf(payload);
  return isObject(event) && isObject(event.data) ? event.data : {};
}
