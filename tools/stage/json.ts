import { BYTE_ORDER_MARK } from '../../lambda/events/envelope.ts';

/** The value of a JSON text, which may begin with a byte order mark, as payloads may. Undefined if it is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text.replace(BYTE_ORDER_MARK, ''));
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns undefined for an empty text, too: an empty id identifies nothing */
export const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
