import { createHash } from 'node:crypto';
import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject, objectsOf, parseJsonObject, textOf } from '../json.ts';
import { type AwsRequest, SERVICES, type Service } from '../service-forms.ts';

/** A rule that only AWS' guides state, and no service model. */
interface GuideRule {
  /** Where AWS states the rule. */
  readonly source: string;
  readonly operations: readonly string[];
  /** @default the service's code for an invalid input */
  readonly code?: string;
  readonly message: string;
  readonly holds: (request: AwsRequest) => boolean;
}

const KIB = 1024;

const QUEUE_NAME = /^[\w-]{1,80}$/;
const MAX_RECEIVE_COUNT = 1_000;
const BATCH_ENTRY_ID = /^[\w-]{1,80}$/;
const MAX_BATCH_BYTES = 1024 * KIB;
const SQS_BATCHES = ['SendMessageBatch', 'DeleteMessageBatch', 'ChangeMessageVisibilityBatch'];

/** Text without control characters and line breaks, 1 to 99 characters. */
const SUBJECT = /^[^\p{Cc}\p{Zl}\p{Zp}]{1,99}$/u;
const ATTRIBUTE_TYPE = /^(String|String\.Array|Number|Binary)$/;
/**
 * Text without surrogates and control characters. SNS accepts control characters, but silently drops the message at each
 * subscription with a filter policy. They are refused here, because nobody would notice that. Source:
 * https://github.com/aws/aws-sdk-java-v2/issues/5828.
 */
const ATTRIBUTE = /^[^\p{Cc}\p{Cs}\u{10000}-\u{10FFFF}]+$/u;

const MAX_EXPRESSION_BYTES = 4 * KIB;
const MAX_OPERATORS = 300;
const MAX_IN_OPERANDS = 100;
const MAX_PLACEHOLDER_CHARACTERS = 255;
const MAX_SUBSTITUTION_BYTES = 2 * KIB * KIB;
const MAX_NESTING = 32;
const EXPRESSIONS = ['Condition', 'Filter', 'KeyCondition', 'Projection', 'Update'].map(
  (kind) => `${kind}Expression`,
);
const ofDynamodb = (message: string, holds: GuideRule['holds']): GuideRule => ({
  source: 'DynamoDB developer guide, "Quotas in Amazon DynamoDB"',
  operations: ['PutItem', 'UpdateItem', 'DeleteItem', 'GetItem', 'Query', 'Scan'],
  message,
  holds,
});

const MAX_KEY_BYTES = 1_024;
const MAX_METADATA_BYTES = 2 * KIB;
const METADATA_PREFIX = 'x-amz-meta-';
const MAX_DELETED_OBJECTS = 1_000;
const MAX_RULE_ID_CHARACTERS = 255;

const MAX_SECRET_BYTES = 65_536;
const SECRET_NAME = /^[\w/+=.@!-]+$/;

const GUIDE_RULES: Readonly<Partial<Record<Service, readonly GuideRule[]>>> = {
  sqs: [
    {
      source: 'SQS API reference, `CreateQueue`',
      operations: ['CreateQueue'],
      code: 'InvalidParameterValue',
      message: 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length',
      holds: ({ parameters }) => QUEUE_NAME.test(textOf(parameters, 'QueueName') ?? ''),
    },
    {
      source: 'SQS API reference, `SetQueueAttributes`',
      operations: ['CreateQueue', 'SetQueueAttributes'],
      code: 'InvalidParameterValue',
      message: `Invalid value for maxReceiveCount: it must be from 1 to ${MAX_RECEIVE_COUNT}`,
      holds({ parameters: { Attributes: attributes } }) {
        const policy = isJsonObject(attributes) ? textOf(attributes, 'RedrivePolicy') : undefined;
        const count = Number(parseJsonObject(policy ?? '')?.maxReceiveCount ?? 1);
        return count >= 1 && count <= MAX_RECEIVE_COUNT;
      },
    },
    {
      source: 'SQS API reference, `SendMessageBatchRequestEntry`',
      operations: SQS_BATCHES,
      code: 'InvalidBatchEntryId',
      message:
        'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
      holds: ({ parameters }) =>
        objectsOf(parameters, 'Entries').every(({ Id }) => BATCH_ENTRY_ID.test(String(Id))),
    },
    {
      source: 'SQS API reference, `SendMessageBatch`',
      operations: SQS_BATCHES,
      code: 'BatchEntryIdsNotDistinct',
      message: 'Two or more batch entries in the request have the same Id.',
      holds({ parameters }) {
        const ids = objectsOf(parameters, 'Entries').map(({ Id }) => Id);
        return new Set(ids).size === ids.length;
      },
    },
    {
      source: 'SQS API reference, `SendMessageBatch`',
      operations: ['SendMessageBatch'],
      code: 'BatchRequestTooLong',
      message: `Batch requests cannot be longer than ${MAX_BATCH_BYTES} bytes.`,
      holds: ({ parameters }) => sumOf(objectsOf(parameters, 'Entries').map(messageBytes)) <= MAX_BATCH_BYTES,
    },
  ],
  sns: [
    {
      source: 'SNS API reference, `Publish`',
      operations: ['Publish'],
      message: 'Invalid parameter: Subject',
      holds: ({ parameters: { Subject = 'none' } }) => SUBJECT.test(String(Subject)),
    },
    {
      source: 'SNS developer guide, "Message attribute data types and validation"',
      operations: ['Publish'],
      message:
        'Invalid parameter: MessageAttributes Reason: Invalid attribute value was passed in for message attribute',
      holds: ({ parameters: { MessageAttributes: attributes } }) =>
        Object.values(isJsonObject(attributes) ? attributes : {}).every(
          (attribute) => isJsonObject(attribute) && isPublishable(attribute),
        ),
    },
  ],
  dynamodb: [
    ofDynamodb('Expression size has exceeded the maximum allowed size', (request) =>
      expressionsOf(request).every(({ text }) => Buffer.byteLength(text) <= MAX_EXPRESSION_BYTES),
    ),
    ofDynamodb('The expression contains too many operators', (request) =>
      expressionsOf(request).every(({ name, text }) => operatorsIn(text, name) <= MAX_OPERATORS),
    ),
    ofDynamodb('The IN operator is provided with too many operands', (request) =>
      expressionsOf(request)
        .flatMap(({ text }) => [...text.matchAll(/\bIN\s*\(([^)]*)\)/gi)])
        .every(([, list = '']) => list.split(',').length <= MAX_IN_OPERANDS),
    ),
    ofDynamodb(
      `Expression attribute names and values may have at most ${MAX_PLACEHOLDER_CHARACTERS} characters`,
      (request) =>
        substitutionsOf(request)
          .flatMap((each) => Object.keys(each))
          .every((placeholder) => placeholder.length <= MAX_PLACEHOLDER_CHARACTERS),
    ),
    ofDynamodb('Expression attribute names and values may have at most 2 MB', (request) =>
      substitutionsOf(request).every((each) => JSON.stringify(each).length <= MAX_SUBSTITUTION_BYTES),
    ),
    ofDynamodb(
      'Nesting Levels have exceeded supported limits: Attributes have a maximum nesting of 32 levels',
      ({ parameters: { Item, ExpressionAttributeValues } }) =>
        [Item, ExpressionAttributeValues].every((values) => nestingOf(values) <= MAX_NESTING),
    ),
  ],
  s3: [
    {
      source: 'S3 user guide, "Naming Amazon S3 objects"',
      operations: ['PutObject', 'CopyObject', 'GetObject', 'HeadObject', 'DeleteObject'],
      code: 'KeyTooLongError',
      message: 'Your key is too long',
      holds: ({ parameters: { Key } }) => Buffer.byteLength(String(Key)) <= MAX_KEY_BYTES,
    },
    {
      source: 'S3 user guide, "Working with object metadata"',
      operations: ['PutObject', 'CopyObject'],
      code: 'MetadataTooLarge',
      message: 'Your metadata headers exceed the maximum allowed metadata size',
      holds: ({ http: { headers } }) =>
        sumOf(
          Object.entries(headers)
            .filter(([name]) => name.startsWith(METADATA_PREFIX))
            .map(([name, value]) => name.length - METADATA_PREFIX.length + Buffer.byteLength(String(value))),
        ) <= MAX_METADATA_BYTES,
    },
    {
      source: 'S3 API reference, `DeleteObjects`',
      operations: ['DeleteObjects'],
      code: 'MalformedXML',
      message: 'The XML you provided was not well-formed or did not validate against our published schema',
      holds({ http: { body } }) {
        const { length } = [...body.toString().matchAll(/<Object>/g)];
        return length >= 1 && length <= MAX_DELETED_OBJECTS;
      },
    },
    {
      source: 'S3 API reference, "Error responses"',
      operations: ['PutObject', 'DeleteObjects', 'PutBucketLifecycleConfiguration'],
      code: 'BadDigest',
      message: 'The Content-MD5 you specified did not match what we received.',
      holds: ({ http: { headers, body } }) =>
        headers['content-md5'] === undefined ||
        headers['content-md5'] === createHash('md5').update(body).digest('base64'),
    },
    {
      source: 'S3 API reference, `LifecycleRule`',
      operations: ['PutBucketLifecycleConfiguration'],
      message: `ID length should not exceed allowed limit of ${MAX_RULE_ID_CHARACTERS}`,
      holds: (request) => elementsOf(request, 'ID').every((id) => id.length <= MAX_RULE_ID_CHARACTERS),
    },
    {
      source: 'S3 API reference, `LifecycleExpiration`',
      operations: ['PutBucketLifecycleConfiguration'],
      message: "'Days' for Expiration action must be a positive integer",
      holds: (request) => elementsOf(request, 'Days').every((days) => Number(days) >= 1),
    },
  ],
  secretsmanager: [
    {
      source: 'Secrets Manager user guide, "Secrets Manager quotas"',
      operations: ['CreateSecret', 'PutSecretValue'],
      message: `The secret value may have at most ${MAX_SECRET_BYTES} bytes`,
      holds: ({ parameters }) =>
        Buffer.byteLength(textOf(parameters, 'SecretString') ?? '') <= MAX_SECRET_BYTES,
    },
    {
      source: 'Secrets Manager API reference, `CreateSecret`',
      operations: ['CreateSecret'],
      message:
        'Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!',
      holds: ({ parameters }) => SECRET_NAME.test(textOf(parameters, 'Name') ?? ''),
    },
  ],
};

/** @throws AwsError if a request breaks one of the rules */
export function checkGuideRules(request: AwsRequest): void {
  const { service, operation } = request;
  for (const { operations, holds, message, code = SERVICES[service].invalidInput } of GUIDE_RULES[service] ??
    []) {
    if (operations.includes(operation) && !holds(request)) throw new AwsError(code, message);
  }
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

function isPublishable({ DataType, StringValue, BinaryValue }: JsonObject): boolean {
  if (!ATTRIBUTE_TYPE.test(String(DataType))) return false;
  return DataType === 'Binary' ? Boolean(BinaryValue) : ATTRIBUTE.test(String(StringValue ?? ''));
}

/** Size of an SQS message: its body, and the names, types and values of its attributes. */
function messageBytes({ MessageBody: body, MessageAttributes: attributes }: JsonObject): number {
  const parts = Object.entries(isJsonObject(attributes) ? attributes : {}).map(([name, attribute]) => {
    const { DataType = '', StringValue = '', BinaryValue = '' } = isJsonObject(attribute) ? attribute : {};
    const texts = [name, DataType, StringValue].map((text) => Buffer.byteLength(String(text)));
    return sumOf(texts) + Buffer.byteLength(String(BinaryValue), 'base64');
  });
  return sumOf(parts) + Buffer.byteLength(String(body));
}

const expressionsOf = ({ parameters }: AwsRequest) =>
  EXPRESSIONS.map((name) => ({ name, text: textOf(parameters, name) ?? '' }));

const substitutionsOf = ({ parameters }: AwsRequest) =>
  [parameters.ExpressionAttributeNames, parameters.ExpressionAttributeValues].filter(isJsonObject);

/** Operators and functions of an expression. The `=` of an assignment is none. */
function operatorsIn(expression: string, name: string): number {
  const comparators = name === 'UpdateExpression' ? '' : '|<>|<=|>=|[<>=]';
  const operator = new RegExp(`[+-](?=\\s)|\\w+\\s*(?=\\()|\\b(?:AND|OR|NOT|BETWEEN)\\b${comparators}`, 'gi');
  return [...expression.matchAll(operator)].length;
}

/** Levels of maps and lists in values of DynamoDB's JSON. */
function nestingOf(value: JsonObject[string]): number {
  if (Array.isArray(value)) return Math.max(0, ...value.map(nestingOf));
  if (!isJsonObject(value)) return 0;
  const parts = Object.entries(value).map(
    ([name, part]) => nestingOf(part) + (name === 'M' || name === 'L' ? 1 : 0),
  );
  return Math.max(0, ...parts);
}

/** The contents of an element in an XML body. */
const elementsOf = ({ http: { body } }: AwsRequest, name: string) =>
  [...body.toString().matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => text);
