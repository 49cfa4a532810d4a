/** Parses JSON. Returns undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value if it is a string that is not empty. */
export const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
