export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns undefined for an empty text, too: an empty id identifies nothing */
export const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
