import { isJsonObject, type JsonObject } from '../json.ts';
import { type AwsResponse, queryResponse } from '../response.ts';
import { element } from '../xml.ts';

/**
 * Translates a request in CloudWatch's old query protocol, which version 2 of the AWS CLI spoke until 2025, to the
 * fields of its JSON protocol: `AlarmNames.member.1` becomes the first of `AlarmNames`.
 */
export function alarmParameters(form: Readonly<Record<string, string>>): JsonObject {
  const parameters: JsonObject = {};
  for (const [field, value] of Object.entries(form)) {
    const list = /^(\w+)\.member\.\d+$/.exec(field)?.[1];
    if (list === undefined) {
      parameters[field] = value;
    } else {
      const items = parameters[list];
      parameters[list] = Array.isArray(items) ? [...items, value] : [value];
    }
  }
  return parameters;
}

/** Writes an answer of the JSON protocol as the XML of the query protocol. */
export function alarmsQueryResponse(operation: string, answer: JsonObject): AwsResponse {
  const isEmpty = Object.keys(answer).length === 0;
  return queryResponse('monitoring', operation, isEmpty ? undefined : fields(answer));
}

function fields(object: JsonObject): string {
  return Object.entries(object)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => {
      if (Array.isArray(value))
        return `<${name}>${value.map((item) => inside('member', item)).join('')}</${name}>`;
      // Times are numbers of seconds in JSON only.
      if (name.endsWith('Timestamp')) return element(name, new Date(Number(value) * 1000).toISOString());
      return inside(name, value);
    })
    .join('');
}

function inside(name: string, value: JsonObject[string]): string {
  return isJsonObject(value) ? `<${name}>${fields(value)}</${name}>` : element(name, String(value));
}
