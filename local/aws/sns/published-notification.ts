import type { PublishedNotification } from '../../observation.ts';
import { type JsonObject, textOf } from '../json.ts';
import { textsByProtocol } from './sns-message-structure.ts';

/** Reads the form of SNS' Publish, of a call that succeeded. */
export function publishedNotification(form: JsonObject): PublishedNotification {
  return {
    topicArn: textOf(form, 'TopicArn') ?? textOf(form, 'TargetArn') ?? '',
    subject: textOf(form, 'Subject') ?? '',
    texts: textsByProtocol(form),
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
