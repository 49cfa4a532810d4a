import { parsePayloadText } from '../../../lambda/contract/envelope.ts';

/** Somebody whom events name, by the field `<kind>_id` of their data. */
export interface Person {
  readonly kind: 'user' | 'girl';
  readonly id: string;
}

/**
 * How a payload names somebody: `field` where it is in the field for it, `text` where the payload cannot be trusted to
 * have its ids in their fields, and holds one anywhere.
 */
export type Mention = 'field' | 'text';

/** @returns undefined where the payload names none of them */
export function mentionIn(payload: string, persons: readonly Person[]): Mention | undefined {
  // Nearly all payloads end here: parsing takes the time. A backslash may escape an id.
  const possible = persons.filter(({ id }) => payload.includes(id) || payload.includes('\\'));
  if (possible.length === 0) return undefined;
  const data = dataOf(payload);
  const fields = possible.map(({ kind }) => data[`${kind}_id`]);
  if (possible.some(({ id }, index) => isId(fields[index]) && String(fields[index]) === id)) return 'field';
  // A number above 2^53 is read as one of its neighbours.
  const isExact = fields.every((field) => typeof field !== 'number' || Number.isSafeInteger(field));
  if (isExact && parsePayloadText(payload).kind !== 'unusable') return undefined;
  return mentionInText(payload, possible);
}

/** Looks for ids in what is no event. One that is part of a longer word or number is another one. */
export function mentionInText(text: string, persons: readonly Person[]): Mention | undefined {
  const found = persons
    .flatMap(({ id }) => [id, JSON.stringify(id).slice(1, -1)])
    .some((id) => new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(id)}(?![\\p{L}\\p{N}])`, 'u').test(text));
  return found ? 'text' : undefined;
}

const isId = (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value);

function dataOf(payload: string): Record<string, unknown> {
  try {
    const { data } = JSON.parse(payload) as { data?: unknown };
    return typeof data === 'object' && data !== null ? { ...data } : {};
  } catch {
    return {};
  }
}
