import type { PublishedNotification } from '../../observation.ts';
import { AwsError } from '../errors.ts';
import type { Fauxqs } from '../fauxqs.ts';
import { type JsonObject, parseJsonObject, textOf } from '../json.ts';
import type { AwsResponse } from '../response.ts';
import { assertPublishable } from './publish-rules.ts';

/**
 * Maximum bytes of a message, the texts of all protocols together. Source: Amazon SNS API reference,
 * `Publish`.
 */
const MAX_MESSAGE_BYTES = 262_144;

/**
 * SNS: fauxqs, plus `MessageStructure` and SNS' rules for texts. Like the real service, it has only the query protocol.
 */
export function sns(fauxqs: Fauxqs, parameters: JsonObject): Promise<AwsResponse> {
  assertPublishable(parameters);
  const form = new URLSearchParams();
  for (const [field, value] of Object.entries(resolveMessageStructure(parameters))) {
    form.set(field, String(value));
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return fauxqs.send({ method: 'POST', url: '/', headers, body: form.toString() });
}

/**
 * Implements `MessageStructure: json` for queues, the only subscribers that fauxqs delivers to: the message becomes the
 * text under `sqs`, or else the text under `default`.
 * @param form of Publish or PublishBatch
 * @throws AwsError InvalidParameter if the message is not a JSON object with `default`, or too long. SNS rejects only
 * the invalid entry of a batch; this function rejects the whole batch.
 */
function resolveMessageStructure(form: JsonObject): JsonObject {
  const resolved: JsonObject = {};
  for (const [field, value] of Object.entries(form)) {
    const prefix = /^(PublishBatchRequestEntries\.member\.\d+\.|)Message$/.exec(field)?.[1];
    const structured = prefix !== undefined && textOf(form, `${prefix}MessageStructure`) === 'json';
    resolved[field] = structured ? messageForQueues(String(value)) : value;
  }
  return resolved;
}

/** @param form parameters of a call of Publish that has succeeded */
export function publishedNotification(form: JsonObject): PublishedNotification {
  const message = String(form.Message);
  return {
    topicArn: textOf(form, 'TopicArn') ?? textOf(form, 'TargetArn') ?? '',
    subject: textOf(form, 'Subject') ?? '',
    texts: textOf(form, 'MessageStructure') === 'json' ? textsByProtocol(message) : { default: message },
    attributes: stringAttributes(form),
    at: new Date(),
  };
}

function stringAttributes(form: JsonObject): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const field of Object.keys(form)) {
    const prefix = /^MessageAttributes\.entry\.\d+(?=\.Name$)/.exec(field)?.[0];
    if (prefix === undefined) continue;
    const name = textOf(form, field);
    const value = textOf(form, `${prefix}.Value.StringValue`);
    if (name !== undefined && value !== undefined) attributes[name] = value;
  }
  return attributes;
}

function messageForQueues(message: string): string {
  const texts = textsByProtocol(message);
  return texts.sqs ?? texts.default;
}

function textsByProtocol(message: string): { default: string; [protocol: string]: string } {
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) {
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
