import { AwsError } from '../aws-error.ts';
import { isJsonObject, type JsonObject, objectsOf, textOf, textsOf } from '../json.ts';
import { type AwsResponse, queryResponse } from '../response.ts';
import { element } from '../xml.ts';

type Form = Record<string, string>;

/** Number fields, which the form writes as text. */
const NUMBERS = ['DelaySeconds', 'MaxNumberOfMessages', 'MaxResults', 'VisibilityTimeout', 'WaitTimeSeconds'];

/** Lists of names: each form field `X.1`, and the JSON field that it becomes. */
const NAME_LISTS: Record<string, string> = {
  AttributeName: 'AttributeNames',
  MessageAttributeName: 'MessageAttributeNames',
  MessageSystemAttributeName: 'MessageSystemAttributeNames',
};

/**
 * Translates a request in SQS's old query protocol to the fields of its JSON protocol.
 * @param path of the request, which is the queue's address where there is no `QueueUrl`
 */
export function sqsParameters(form: Form, path: string): JsonObject {
  const parameters: JsonObject = {};
  for (const [name, value] of Object.entries(form)) {
    if (name.includes('.') || name === 'Action' || name === 'Version') continue;
    parameters[name] = NUMBERS.includes(name) ? Number(value) : value;
  }
  if (parameters.QueueUrl === undefined && path.length > 1) parameters.QueueUrl = path;
  for (const [prefix, field] of Object.entries(NAME_LISTS)) {
    const names = Object.keys(form).filter((name) => new RegExp(`^${prefix}\\.\\d+$`).test(name));
    if (names.length > 0) parameters[field] = names.flatMap((name) => form[name] ?? []);
  }
  const attributes = messageAttributes(form);
  if (attributes !== undefined) parameters.MessageAttributes = attributes;
  return parameters;
}

function messageAttributes(form: Form): JsonObject | undefined {
  const attributes: JsonObject = {};
  for (const [field, name] of Object.entries(form)) {
    const prefix = /^MessageAttribute\.\d+(?=\.Name$)/.exec(field)?.[0];
    if (prefix === undefined) continue;
    const attribute: JsonObject = {};
    for (const part of ['DataType', 'StringValue', 'BinaryValue']) {
      const value = form[`${prefix}.Value.${part}`];
      if (value !== undefined) attribute[part] = value;
    }
    attributes[name] = attribute;
  }
  return Object.keys(attributes).length === 0 ? undefined : attributes;
}

/** What goes inside `<…Result>`; undefined where the operation has no result. */
const RESULTS: Record<string, (answer: JsonObject) => string | undefined> = {
  ListQueues: (answer) =>
    (textsOf(answer, 'QueueUrls') ?? []).map((url) => element('QueueUrl', url)).join(''),
  GetQueueUrl: (answer) => fields(answer, ['QueueUrl']),
  GetQueueAttributes: (answer) => attributePairs(answer.Attributes),
  SendMessage: (answer) =>
    fields(answer, ['MessageId', 'MD5OfMessageBody', 'MD5OfMessageAttributes', 'SequenceNumber']),
  ReceiveMessage: (answer) => objectsOf(answer, 'Messages').map(receivedMessage).join(''),
  DeleteMessage: () => undefined,
  PurgeQueue: () => undefined,
  ChangeMessageVisibility: () => undefined,
};

/** @throws AwsError for an operation that is answered in the JSON protocol only */
export function requireQueryOperation(operation: string): void {
  if (Object.hasOwn(RESULTS, operation)) return;
  throw new AwsError(
    'InvalidAction',
    `The local AWS endpoint answers ${operation} in SQS's JSON protocol only (X-Amz-Target: AmazonSQS.${operation}); in the query protocol it answers ${Object.keys(RESULTS).join(', ')}.`,
  );
}

/** Writes an answer of the JSON protocol as the XML of the query protocol. */
export function sqsQueryResponse(operation: string, answer: JsonObject): AwsResponse {
  return queryResponse('sqs', operation, RESULTS[operation]?.(answer));
}

function receivedMessage(message: JsonObject): string {
  const attributes = isJsonObject(message.MessageAttributes) ? message.MessageAttributes : {};
  const custom = Object.entries(attributes).map(([name, value]) => {
    const content = isJsonObject(value) ? fields(value, ['StringValue', 'BinaryValue', 'DataType']) : '';
    return `<MessageAttribute>${element('Name', name)}<Value>${content}</Value></MessageAttribute>`;
  });
  return `<Message>${fields(message, ['MessageId', 'ReceiptHandle', 'MD5OfBody', 'MD5OfMessageAttributes', 'Body'])}${attributePairs(message.Attributes)}${custom.join('')}</Message>`;
}

function attributePairs(attributes: JsonObject[string]): string {
  if (!isJsonObject(attributes)) return '';
  return Object.keys(attributes)
    .map(
      (name) =>
        `<Attribute>${element('Name', name)}${element('Value', textOf(attributes, name) ?? '')}</Attribute>`,
    )
    .join('');
}

function fields(object: JsonObject, names: string[]): string {
  return names
    .map((name) => (object[name] === undefined ? '' : element(name, String(object[name]))))
    .join('');
}
