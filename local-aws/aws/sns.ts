import type { PublishedNotification } from '../observation.ts';
import { AwsError } from './errors.ts';
import type { Fauxqs } from './fauxqs.ts';
import { type JsonObject, parseJsonObject, textAttributes, textOf } from './json.ts';
import type { AwsResponse } from './response.ts';

/**
 * Maximum bytes of a message, the texts of all protocols together. Source: Amazon SNS API reference,
 * `Publish`.
 */
const MAX_MESSAGE_BYTES = 262_144;

/**
 * SNS: fauxqs, plus `MessageStructure: json` for queues, the only subscribers that fauxqs delivers to: the message
 * becomes the text under `sqs`, or else the text under `default`. Like the real service, it has only the query protocol.
 * @throws AwsError InvalidParameter if such a message is not a JSON object with `default`, or too long
 */
export function sns(fauxqs: Fauxqs, form: URLSearchParams): Promise<AwsResponse> {
  if (form.get('Action') === 'PublishBatch') {
    throw new AwsError(
      'InvalidAction',
      "The local AWS endpoint does not offer SNS's PublishBatch, only Publish.",
    );
  }
  const sent = new URLSearchParams(form);
  if (form.get('MessageStructure') === 'json') {
    const texts = textsByProtocol(form.get('Message') ?? '');
    sent.set('Message', texts.sqs ?? texts.default);
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return fauxqs.send({ method: 'POST', url: '/', headers, body: sent.toString() });
}

/** @param parameters of a call of Publish that has succeeded */
export function publishedNotification(parameters: JsonObject): PublishedNotification {
  const { MessageAttributes, MessageStructure } = parameters;
  const message = String(parameters.Message);
  return {
    topicArn: textOf(parameters, 'TopicArn') ?? textOf(parameters, 'TargetArn') ?? '',
    subject: textOf(parameters, 'Subject') ?? '',
    texts: MessageStructure === 'json' ? textsByProtocol(message) : { default: message },
    attributes: textAttributes(MessageAttributes, 'StringValue'),
    at: new Date(),
  };
}

function textsByProtocol(message: string): { default: string; [protocol: string]: string } {
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) throw invalid('Message too long');
  const parts = parseJsonObject(message);
  if (parts === undefined) throw invalid('Message Structure - JSON message body failed to parse');
  const fallback = textOf(parts, 'default');
  if (fallback === undefined) throw invalid('Message Structure - No default entry in JSON message body');
  const texts = Object.entries(parts).filter((part): part is [string, string] => typeof part[1] === 'string');
  return { ...Object.fromEntries(texts), default: fallback };
}

const invalid = (reason: string) => new AwsError('InvalidParameter', `Invalid parameter: ${reason}`);
