export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [field: string]: JsonValue | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
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

/** The text in a field. Undefined if the field is absent or has another type. */
export function textOf(object: JsonObject, field: string): string | undefined {
  const value = object[field];
  return typeof value === 'string' ? value : undefined;
}

/** The objects in a list field. Empty if the field is absent. */
export function objectsOf(object: JsonObject, field: string): JsonObject[] {
  const value = object[field];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The texts in a list field. Undefined if the field is absent. */
export function textsOf(object: JsonObject, field: string): string[] | undefined {
  const value = object[field];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

/**
 * The texts of message attributes, by name. Attributes of another type are left out.
 * @param field with the text: `StringValue` in SQS and SNS, `stringValue` in an event of Lambda
 */
export function textAttributes(attributes: unknown, field: string): Record<string, string> {
  const texts = Object.entries(isJsonObject(attributes) ? attributes : {}).flatMap(([name, attribute]) => {
    const text = isJsonObject(attribute) ? textOf(attribute, field) : undefined;
    return text === undefined ? [] : [[name, text]];
  });
  return Object.fromEntries(texts);
}
