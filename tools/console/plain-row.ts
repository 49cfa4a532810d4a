import type { Row } from './api.ts';

/** An item as plain JSON. A number that JavaScript cannot hold is a text, as are bytes: base64. */
export function plainRow(item: Readonly<Record<string, object>>): Row {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plainValue(value)]));
}

function plainValue(attribute: unknown): unknown {
  const [[type, value] = []] = Object.entries(isObject(attribute) ? attribute : {});
  if (type === 'N') return plainNumber(value);
  if (type === 'NULL') return null;
  if (type === 'L' && Array.isArray(value)) return value.map(plainValue);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (type === 'BS' && Array.isArray(value)) return value.map((bytes) => plainValue({ B: bytes }));
  if (type === 'NS' && Array.isArray(value)) return value.map(plainNumber);
  if (type === 'M' && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plainValue(inner)]));
  }
  return value;
}

function plainNumber(text: unknown): unknown {
  const value = Number(text);
  return String(value) === text ? value : text;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
