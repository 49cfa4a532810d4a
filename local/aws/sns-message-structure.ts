import { AwsError } from './aws-error.ts';
import { type JsonObject, parseJsonObject, textOf } from './json.ts';

/**
 * Carries out `MessageStructure: json` for the subscribers that fauxqs delivers to, which are queues: the
 * message becomes the text under `sqs`, else under `default`.
 * @param form of Publish or PublishBatch
 * @throws AwsError InvalidParameter where the message is not a JSON object with `default`. SNS refuses one
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

function messageForQueues(message: string): string {
  const texts = parseJsonObject(message);
  if (texts === undefined) {
    throw new AwsError(
      'InvalidParameter',
      'Invalid parameter: Message Structure - JSON message body failed to parse',
    );
  }
  const fallback = textOf(texts, 'default');
  if (fallback === undefined) {
    throw new AwsError(
      'InvalidParameter',
      'Invalid parameter: Message Structure - No default entry in JSON message body',
    );
  }
  return textOf(texts, 'sqs') ?? fallback;
}
