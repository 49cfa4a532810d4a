import { createHash } from 'node:crypto';
import { AwsError } from '../errors.ts';
import { isJsonObject, type JsonObject, objectsOf, parseJsonObject, textOf } from '../json.ts';
import { type AwsRequest, SERVICES, type Service } from '../services.ts';

/** A rule that only AWS' guides state, and no service model. */
interface GuideRule {
  readonly service: Service;
  readonly operations: readonly string[];
  /** Where AWS states the rule. */
  readonly source: string;
  /** @default the service's code for an invalid input */
  readonly code?: string;
  /** @returns what is wrong with a request; undefined if the rule is kept */
  readonly problem: (request: AwsRequest) => string | undefined;
}

const KIB = 1024;

const QUEUE_NAME = /^[\w-]{1,80}$/;
const MAX_RECEIVE_COUNT = 1_000;
const BATCH_ENTRY_ID = /^[\w-]{1,80}$/;
const MAX_BATCH_BYTES = 1024 * KIB;

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

const MAX_KEY_BYTES = 1_024;
const MAX_METADATA_BYTES = 2 * KIB;
const MAX_DELETED_OBJECTS = 1_000;
const MAX_RULE_ID_CHARACTERS = 255;

const MAX_SECRET_BYTES = 65_536;
const SECRET_NAME = /^[\w/+=.@!-]+$/;
const RECOVERY_DAYS = { min: 7, max: 30 };

const EXPRESSIONS = 'Condition Filter KeyCondition Projection Update'
  .split(' ')
  .map((kind) => `${kind}Expression`);
const WITH_EXPRESSIONS = ['PutItem', 'UpdateItem', 'DeleteItem', 'GetItem', 'Query', 'Scan'];
const DYNAMODB_LIMITS = 'DynamoDB developer guide, "Quotas in Amazon DynamoDB"';

/** The first problem of a request's expressions. */
function ofExpressions(problem: (expression: string, name: string) => string | undefined) {
  return ({ parameters }: AwsRequest) =>
    EXPRESSIONS.map((name) => problem(textOf(parameters, name) ?? '', name)).find(
      (found) => found !== undefined,
    );
}

export const GUIDE_RULES: readonly GuideRule[] = [
  {
    service: 'sqs',
    operations: ['CreateQueue'],
    source: 'SQS API reference, `CreateQueue`',
    code: 'InvalidParameterValue',
    problem: ({ parameters }) =>
      QUEUE_NAME.test(textOf(parameters, 'QueueName')?.replace(/\.fifo$/, '') ?? '')
        ? undefined
        : 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length',
  },
  {
    service: 'sqs',
    operations: ['CreateQueue', 'SetQueueAttributes'],
    source: 'SQS API reference, `SetQueueAttributes`',
    code: 'InvalidParameterValue',
    problem({ parameters: { Attributes: attributes } }) {
      const policy = isJsonObject(attributes) ? textOf(attributes, 'RedrivePolicy') : undefined;
      const { maxReceiveCount = 1 } = parseJsonObject(policy ?? '') ?? {};
      const isValid = Number(maxReceiveCount) >= 1 && Number(maxReceiveCount) <= MAX_RECEIVE_COUNT;
      return isValid
        ? undefined
        : `Invalid value for maxReceiveCount: it must be from 1 to ${MAX_RECEIVE_COUNT}`;
    },
  },
  {
    service: 'sqs',
    operations: ['SendMessageBatch', 'DeleteMessageBatch', 'ChangeMessageVisibilityBatch'],
    source: 'SQS API reference, `SendMessageBatchRequestEntry`',
    code: 'InvalidBatchEntryId',
    problem: ({ parameters }) =>
      objectsOf(parameters, 'Entries').every(({ Id }) => BATCH_ENTRY_ID.test(String(Id)))
        ? undefined
        : 'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
  },
  {
    service: 'sqs',
    operations: ['SendMessageBatch', 'DeleteMessageBatch', 'ChangeMessageVisibilityBatch'],
    source: 'SQS API reference, `SendMessageBatch`',
    code: 'BatchEntryIdsNotDistinct',
    problem({ parameters }) {
      const ids = objectsOf(parameters, 'Entries').map(({ Id }) => Id);
      return new Set(ids).size === ids.length
        ? undefined
        : 'Two or more batch entries in the request have the same Id.';
    },
  },
  {
    service: 'sqs',
    operations: ['SendMessageBatch'],
    source: 'SQS API reference, `SendMessageBatch`',
    code: 'BatchRequestTooLong',
    problem({ parameters }) {
      const bytes = objectsOf(parameters, 'Entries').reduce((sum, entry) => sum + messageBytes(entry), 0);
      return bytes <= MAX_BATCH_BYTES
        ? undefined
        : `Batch requests cannot be longer than ${MAX_BATCH_BYTES} bytes. You have sent ${bytes} bytes.`;
    },
  },
  {
    service: 'sns',
    operations: ['Publish', 'PublishBatch'],
    source: 'SNS API reference, `Publish`',
    problem: (request) =>
      publishedMessages(request).every(({ Subject = 'none' }) => SUBJECT.test(String(Subject)))
        ? undefined
        : 'Invalid parameter: Subject',
  },
  {
    service: 'sns',
    operations: ['Publish', 'PublishBatch'],
    source: 'SNS developer guide, "Message attribute data types and validation"',
    problem: (request) =>
      publishedMessages(request)
        .flatMap(({ MessageAttributes: attributes }) =>
          Object.values(isJsonObject(attributes) ? attributes : {}),
        )
        .every((attribute) => isJsonObject(attribute) && isPublishable(attribute))
        ? undefined
        : 'Invalid parameter: MessageAttributes Reason: Invalid attribute value was passed in for message attribute',
  },
  {
    service: 'dynamodb',
    operations: WITH_EXPRESSIONS,
    source: DYNAMODB_LIMITS,
    problem: ofExpressions((expression, name) =>
      Buffer.byteLength(expression) <= MAX_EXPRESSION_BYTES
        ? undefined
        : `Invalid ${name}: Expression size has exceeded the maximum allowed size; expression size: ${Buffer.byteLength(expression)}`,
    ),
  },
  {
    service: 'dynamodb',
    operations: WITH_EXPRESSIONS,
    source: DYNAMODB_LIMITS,
    problem: ofExpressions((expression, name) => {
      const operators = operatorsIn(expression, name);
      return operators <= MAX_OPERATORS
        ? undefined
        : `Invalid ${name}: The expression contains too many operators; number of operators: ${operators}`;
    }),
  },
  {
    service: 'dynamodb',
    operations: WITH_EXPRESSIONS,
    source: DYNAMODB_LIMITS,
    problem: ofExpressions((expression, name) => {
      const lists = [...expression.matchAll(/\bIN\s*\(([^)]*)\)/gi)].map(
        ([, list = '']) => list.split(',').length,
      );
      return Math.max(0, ...lists) <= MAX_IN_OPERANDS
        ? undefined
        : `Invalid ${name}: The IN operator is provided with too many operands; number of operands: ${Math.max(...lists)}`;
    }),
  },
  {
    service: 'dynamodb',
    operations: WITH_EXPRESSIONS,
    source: DYNAMODB_LIMITS,
    problem({ parameters: { ExpressionAttributeNames: names, ExpressionAttributeValues: values } }) {
      const substitutions = [names, values].filter(isJsonObject);
      const placeholders = substitutions.flatMap((each) => Object.keys(each));
      const long = placeholders.find((placeholder) => placeholder.length > MAX_PLACEHOLDER_CHARACTERS);
      if (long !== undefined) {
        return `Expression attribute names and values may have at most ${MAX_PLACEHOLDER_CHARACTERS} characters`;
      }
      return substitutions.every((each) => JSON.stringify(each).length <= MAX_SUBSTITUTION_BYTES)
        ? undefined
        : 'Expression attribute names and values may have at most 2 MB';
    },
  },
  {
    service: 'dynamodb',
    operations: ['PutItem', 'UpdateItem', 'BatchWriteItem'],
    source: DYNAMODB_LIMITS,
    problem: ({ parameters: { Item, ExpressionAttributeValues, RequestItems } }) =>
      [Item, ExpressionAttributeValues, RequestItems].some((values) => nestingOf(values) > MAX_NESTING)
        ? 'Nesting Levels have exceeded supported limits: Attributes have a maximum nesting of 32 levels'
        : undefined,
  },
  {
    service: 's3',
    operations: [
      'PutObject',
      'CopyObject',
      'GetObject',
      'HeadObject',
      'DeleteObject',
      'CreateMultipartUpload',
    ],
    source: 'S3 user guide, "Naming Amazon S3 objects"',
    code: 'KeyTooLongError',
    problem: ({ parameters: { Key } }) =>
      Buffer.byteLength(String(Key)) <= MAX_KEY_BYTES ? undefined : 'Your key is too long',
  },
  {
    service: 's3',
    operations: ['PutObject', 'CopyObject', 'CreateMultipartUpload'],
    source: 'S3 user guide, "Working with object metadata"',
    code: 'MetadataTooLarge',
    problem({ http: { headers } }) {
      const metadata = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-'));
      const bytes = metadata.reduce(
        (sum, [name, value]) => sum + name.length - 'x-amz-meta-'.length + Buffer.byteLength(String(value)),
        0,
      );
      return bytes <= MAX_METADATA_BYTES
        ? undefined
        : 'Your metadata headers exceed the maximum allowed metadata size';
    },
  },
  {
    service: 's3',
    operations: ['DeleteObjects'],
    source: 'S3 API reference, `DeleteObjects`',
    code: 'MalformedXML',
    problem({ http: { body } }) {
      const { length } = [...body.toString().matchAll(/<Object>/g)];
      return length >= 1 && length <= MAX_DELETED_OBJECTS
        ? undefined
        : 'The XML you provided was not well-formed or did not validate against our published schema';
    },
  },
  {
    service: 's3',
    operations: ['PutObject', 'DeleteObjects', 'PutBucketLifecycleConfiguration'],
    source: 'S3 API reference, "Error responses"',
    code: 'BadDigest',
    problem({ http: { headers, body } }) {
      const given = headers['content-md5'];
      return given === undefined || given === createHash('md5').update(body).digest('base64')
        ? undefined
        : 'The Content-MD5 you specified did not match what we received.';
    },
  },
  {
    service: 's3',
    operations: ['PutBucketLifecycleConfiguration'],
    source: 'S3 API reference, `LifecycleRule` and `LifecycleExpiration`',
    problem({ http: { body } }) {
      const text = body.toString();
      const ids = [...text.matchAll(/<ID>([^<]*)<\/ID>/g)].map(([, id = '']) => id);
      if (ids.some((id) => id.length > MAX_RULE_ID_CHARACTERS)) {
        return `ID length should not exceed allowed limit of ${MAX_RULE_ID_CHARACTERS}`;
      }
      const days = [...text.matchAll(/<Days>([^<]*)<\/Days>/g)].map(([, number]) => Number(number));
      return days.every((number) => number >= 1)
        ? undefined
        : "'Days' for Expiration action must be a positive integer";
    },
  },
  {
    service: 'secretsmanager',
    operations: ['CreateSecret', 'PutSecretValue', 'UpdateSecret'],
    source: 'Secrets Manager user guide, "Secrets Manager quotas"',
    problem: ({ parameters }) =>
      Buffer.byteLength(textOf(parameters, 'SecretString') ?? '') <= MAX_SECRET_BYTES
        ? undefined
        : `The secret value may have at most ${MAX_SECRET_BYTES} bytes`,
  },
  {
    service: 'secretsmanager',
    operations: ['CreateSecret'],
    source: 'Secrets Manager API reference, `CreateSecret`',
    problem: ({ parameters }) =>
      SECRET_NAME.test(textOf(parameters, 'Name') ?? '')
        ? undefined
        : 'Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!',
  },
  {
    service: 'secretsmanager',
    operations: ['DeleteSecret'],
    source: 'Secrets Manager API reference, `DeleteSecret`',
    code: 'InvalidParameterException',
    problem({ parameters: { RecoveryWindowInDays: days, ForceDeleteWithoutRecovery: force } }) {
      if (days === undefined) return undefined;
      if (force === true) {
        return "You can't use ForceDeleteWithoutRecovery in conjunction with RecoveryWindowInDays.";
      }
      return Number(days) >= RECOVERY_DAYS.min && Number(days) <= RECOVERY_DAYS.max
        ? undefined
        : 'RecoveryWindowInDays value must be between 7 and 30 days (inclusive).';
    },
  },
];

/** @throws AwsError if a request breaks one of the rules */
export function checkGuideRules(request: AwsRequest): void {
  for (const { service, operations, code, problem } of GUIDE_RULES) {
    if (service !== request.service || !operations.includes(request.operation)) continue;
    const found = problem(request);
    if (found !== undefined) throw new AwsError(code ?? SERVICES[service].invalidInput, found);
  }
}

/** SNS refuses only the invalid entry of a batch; here the whole batch is refused. */
function publishedMessages({ parameters }: AwsRequest): JsonObject[] {
  return [parameters, ...objectsOf(parameters, 'PublishBatchRequestEntries')];
}

function isPublishable({ DataType, StringValue, BinaryValue }: JsonObject): boolean {
  if (!ATTRIBUTE_TYPE.test(String(DataType))) return false;
  return DataType === 'Binary' ? Boolean(BinaryValue) : ATTRIBUTE.test(String(StringValue ?? ''));
}

/** Size of an SQS message: its body, and the names, types and values of its attributes. */
function messageBytes({ MessageBody: body, MessageAttributes: attributes }: JsonObject): number {
  const parts = Object.entries(isJsonObject(attributes) ? attributes : {}).map(([name, attribute]) => {
    const { DataType = '', StringValue = '', BinaryValue = '' } = isJsonObject(attribute) ? attribute : {};
    const texts = [name, DataType, StringValue].map((text) => Buffer.byteLength(String(text)));
    return texts.reduce((sum, bytes) => sum + bytes, Buffer.byteLength(String(BinaryValue), 'base64'));
  });
  return parts.reduce((sum, bytes) => sum + bytes, Buffer.byteLength(String(body)));
}

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
