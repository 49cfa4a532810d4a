import { AwsError } from '../aws-error.ts';
import { type JsonObject, parseJsonObject, textOf } from '../json.ts';

/** Source: Amazon SNS API reference, `Publish`. It is of the message with the texts of all protocols. */
const LONGEST_MESSAGE_BYTES = 262_144;

/**
 * Carries out `MessageStructure: json` for the subscribers that fauxqs delivers to, which are queues: the
 * message becomes the text under `sqs`, else under `default`.
 * @param form of Publish or PublishBatch
 * @throws AwsError InvalidParameter where the message is not a JSON object with `default`, or too long. SNS refuses one
 *   entry of a batch so; here it is the whole batch.
 */
export function resolveMessageStructure(form: JsonObject): JsonObject {
  const resolved: JsonObject = {};
  for (const [field, value] of Object.entries(form)) {
    const prefix = /^(PublishBatchRequestEntries\.member\.\d+\.|)Message$/.exec(field)?.[1];
    const structured = prefix !== undefined && textOf(form, `${prefix}MessageStructure`) === 'json';
    resolved[field] = structured ? messageForQueues(String(value)) : value;
  }
  return resolved;
}

/**
 * What subscribers get of a message that is published, by protocol; under `default` what the other protocols get.
 * @param form of Publish
 * @throws AwsError InvalidParameter as {@link resolveMessageStructure}
 */
export function textsByProtocol(form: JsonObject): { default: string; [protocol: string]: string } {
  const message = String(form.Message);
  return textOf(form, 'MessageStructure') === 'json' ? structuredTexts(message) : { default: message };
}

function messageForQueues(message: string): string {
  const texts = structuredTexts(message);
  return texts.sqs ?? texts.default;
}

function structuredTexts(message: string): { default: string; [protocol: string]: string } {
  if (Buffer.byteLength(message) > LONGEST_MESSAGE_BYTES) {
    throw new AwsError('InvalidParameter', 'Invalid parameter: Message too long');
  }
  const parts = parseJsonObject(message);
  if (parts === undefined) {
    throw new AwsError(
      'InvalidParameter',
      'Invalid parameter: Message Structure - JSON message body failed to parse',
    );
  }
  const fallback = textOf(parts, 'default');
  if (fallback === undefined) {
    throw new AwsError(
      'InvalidParameter',
      'Invalid parameter: Message Structure - No default entry in JSON message body',
    );
  }
  const texts = Object.entries(parts).filter((part): part is [string, string] => typeof part[1] === 'string');
  return { ...Object.fromEntries(texts), default: fallback };
}
