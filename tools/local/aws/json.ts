type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [field: string]: JsonValue | undefined;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns undefined if the text is not JSON or its top level is not an object */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The field's text, or undefined if it is absent or of another type. */
export function textOf(object: JsonObject, field: string): string | undefined {
  const value = object[field];
  return typeof value === 'string' ? value : undefined;
}

/** The objects of a list field; an absent field is an empty list. */
export function objectsOf(object: JsonObject, field: string): JsonObject[] {
  const value = object[field];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The texts of a list field, or undefined if it is absent. */
export function textsOf(object: JsonObject, field: string): string[] | undefined {
  const value = object[field];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}
