import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../aws/endpoint.ts';
import { arnOf } from '../../aws/services.ts';
import { awsCaller } from '../../aws-caller.ts';
import { send, signedFor, startEndpoint } from './support.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

let endpoint: AwsEndpoint;
let aws: ReturnType<typeof awsCaller>;
let QueueUrl: string;

beforeAll(async () => {
  endpoint = await startEndpoint();
  aws = awsCaller(endpoint.url, 'operator');
  QueueUrl = `${endpoint.url}/000000000000/queue`;
  await aws.json('sqs', 'CreateQueue', { QueueName: 'queue' });
  await aws.form('sns', { Action: 'CreateTopic', Name: 'topic' });
  await aws.put('/bucket');
  await aws.json('secretsmanager', 'CreateSecret', { Name: 'secret', SecretString: 'one' });
  await secret('PutSecretValue', {
    SecretString: 'two',
    ClientRequestToken: LABELLED,
    VersionStages: many(20, (index) => `label-${index}`),
  });
  await aws.json('dynamodb', 'CreateTable', {
    TableName: 'table',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  });
});
afterAll(() => endpoint.close());

const many = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => item(index));

const queue = (QueueName: string, Attributes = {}) =>
  aws.json('sqs', 'CreateQueue', { QueueName, Attributes });
const message = (input: object) =>
  aws.json('sqs', 'SendMessage', { QueueUrl, MessageBody: 'body', ...input });
const attributes = (MessageAttributes: object) => message({ MessageAttributes });
const text = (StringValue: string, DataType = 'String') => ({ StringValue, DataType });
const batch = (...entries: object[]) => {
  const Entries = entries.map((entry, index) => ({ Id: `${index}`, MessageBody: 'body', ...entry }));
  return aws.json('sqs', 'SendMessageBatch', { QueueUrl, Entries });
};

/** Publishes a text alone and in a batch. @throws Error if both are refused */
const publish = async (field: string, entryField: string, value: string) => {
  const topic = { TopicArn: arnOf('sns', 'topic') };
  const type = 'MessageAttributes.entry.1';
  const attribute = (prefix: string) => ({
    [`${prefix}${type}.Name`]: 'shop_id',
    [`${prefix}${type}.Value.DataType`]: 'String',
  });
  const isAttribute = field.startsWith(type);
  const [alone, batched] = await Promise.allSettled([
    aws.form('sns', {
      Action: 'Publish',
      ...topic,
      Message: 'm',
      ...(isAttribute && attribute('')),
      [field]: value,
    }),
    aws.form('sns', {
      Action: 'PublishBatch',
      ...topic,
      'PublishBatchRequestEntries.member.1.Id': 'a',
      'PublishBatchRequestEntries.member.1.Message': 'm',
      ...(isAttribute && attribute('PublishBatchRequestEntries.member.1.')),
      [entryField]: value,
    }),
  ]);
  expect(alone.status).toBe(batched.status);
  if (alone.status === 'rejected') throw alone.reason;
};
const published = (field: string) => (value: string) =>
  publish(field, `PublishBatchRequestEntries.member.1.${field}`, value);

const put = (input: object) =>
  aws.json('dynamodb', 'PutItem', { TableName: 'table', Item: { id: { S: 'id' } }, ...input });
const item = (a: object) => put({ Item: { id: { S: 'id' }, a } });
const values = { ExpressionAttributeValues: { ':v': { S: 'value' } } };
const update = (UpdateExpression: string, ExpressionAttributeValues: object) =>
  aws.json('dynamodb', 'UpdateItem', {
    ...{ TableName: 'table', Key: { id: { S: 'id' } } },
    ...{ UpdateExpression, ExpressionAttributeValues },
  });
const nested = (levels: number): object => (levels === 0 ? { S: '' } : { M: { a: nested(levels - 1) } });

async function s3(method: string, path: string, headers: Record<string, string> = {}, content = 'body') {
  const signed = { authorization: signedFor('s3'), ...headers };
  const { status, body } = await send(endpoint, {
    method,
    path: `/bucket${path}`,
    headers: signed,
    body: content,
  });
  if (status !== 200) throw new Error(body.toString());
}
const rule = (id: string, days: number) =>
  s3(
    'PUT',
    '?lifecycle',
    {},
    `<LifecycleConfiguration><Rule><ID>${id}</ID><Filter><Prefix></Prefix></Filter><Status>Enabled</Status><Expiration><Days>${days}</Days></Expiration></Rule></LifecycleConfiguration>`,
  );

const secret = (operation: string, input: object) =>
  aws.json('secretsmanager', operation, { SecretId: 'secret', ...input });
/** Id of a version with the largest number of labels. */
const LABELLED = 't'.repeat(32);

const x = (count: number) => 'x'.repeat(count);

/** A limit of AWS: what it limits, a call with a value, values that are accepted and refused, and the error's code. */
type Limit = [
  what: string,
  // biome-ignore lint/suspicious/noExplicitAny: the values of each row have the type of its call.
  call: (value: any) => Promise<unknown>,
  accepted: unknown[],
  refused: unknown[],
  code: string,
];

const SQS: Limit[] = [
  ['name of a queue', (name) => queue(name), [x(80)], [x(81), 'a b'], 'InvalidParameterValue'],
  [
    'number of receives before a dead letter',
    (count) => queue('source', { RedrivePolicy: `{"maxReceiveCount":${count}}` }),
    [],
    [0, 1_001],
    'InvalidParameterValue',
  ],
  ['id in a batch', (Id) => batch({ Id }), [x(80)], [x(81), 'a b'], 'InvalidBatchEntryId'],
  [
    'ids of a batch: they differ',
    (Id) => batch({ Id: 'a', DelaySeconds: 901 }, { Id }),
    [],
    ['a'],
    'BatchEntryIdsNotDistinct',
  ],
  [
    'number of entries in a batch',
    (count) => batch(...many(count, () => ({}))),
    [10],
    [11],
    'TooManyEntriesInBatchRequest',
  ],
  [
    'size of a batch, also with an entry that is refused for itself',
    (size) =>
      batch({ MessageBody: x(MIB / 2) }, { MessageBody: x(size), DelaySeconds: size > MIB / 2 ? 901 : 0 }),
    [MIB / 2],
    [MIB / 2 + 1],
    'BatchRequestTooLong',
  ],
  [
    'characters of a message',
    (MessageBody) => message({ MessageBody }),
    ['emoji 😀 and 𝒜', 'tab\tline\nreturn\r', '\uFFFD'],
    ['\u0000', 'a\uFFFE'],
    'InvalidMessageContents',
  ],
  [
    'group id of a message',
    (MessageGroupId) => message({ MessageGroupId }),
    ['aZ9!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
    ['a b', '', 'é', x(129)],
    'InvalidParameterValue',
  ],
  ['delay of a message', (DelaySeconds) => message({ DelaySeconds }), [900], [901], 'InvalidParameterValue'],
  [
    'number of attributes',
    (count) => attributes(Object.fromEntries(many(count, (index) => [`a${index}`, text('x')]))),
    [10],
    [11],
    'InvalidParameterValue',
  ],
  [
    'name of an attribute',
    (name) => attributes({ [name]: text('x') }),
    ['a-.b'],
    ['a b', 'a.'],
    'InvalidParameterValue',
  ],
  [
    'text of an attribute',
    (a) => attributes({ a: text(a) }),
    ['😀'],
    ['', '\u0001'],
    'InvalidParameterValue',
  ],
  [
    'type of an attribute',
    (type) => attributes({ a: text('x', type) }),
    ['String.a'],
    ['Text', '', `String.${x(250)}`],
    'InvalidParameterValue',
  ],
  [
    'number of an attribute',
    (number) => attributes({ a: text(number, 'Number') }),
    [`-${'1'.repeat(37)}.1e-5`],
    ['1'.repeat(39), 'one'],
    'InvalidParameterValue',
  ],
];

/** Sources: Amazon SNS API reference, `Publish`; developer guide, "Message attribute data types and validation". */
const SNS: Limit[] = [
  [
    'subject',
    published('Subject'),
    ['Review posted', '花子 🌸', x(99)],
    [x(100), 'a\nb', 'a\u2028b', 'a\tb', ''],
    'InvalidParameter',
  ],
  [
    'attribute of a notification',
    published('MessageAttributes.entry.1.Value.StringValue'),
    ['花子', 'shop "1"\\', x(2048)],
    ['shop-🌸', 'shop-𠮷', 'shop\t1', 'shop\n1', ''],
    'InvalidParameter',
  ],
];

const DYNAMODB: Limit[] = [
  ['size of an item', (size) => item({ S: x(size) }), [399 * KIB], [400 * KIB], 'ValidationException'],
  [
    'key of an item',
    (S) => put({ Item: { id: { S } } }),
    [x(2 * KIB)],
    [x(2 * KIB + 1), ''],
    'ValidationException',
  ],
  ['digits of a number', (count) => item({ N: '1'.repeat(count) }), [38], [39], 'ValidationException'],
  ['nesting of an item', (levels) => item(nested(levels)), [32], [33], 'ValidationException'],
  [
    'length of an expression',
    (length) => update(`SET ${x(length)} = :v`, values.ExpressionAttributeValues),
    [],
    [4 * KIB],
    'ValidationException',
  ],
  [
    'number of operators in an expression',
    (count) =>
      put({
        ConditionExpression: `id <> :v OR ${many(count, (index) => `a${index} = :v`).join(' OR ')}`,
        ...values,
      }),
    [149],
    [151],
    'ValidationException',
  ],
  [
    'number of operands',
    (count) => put({ ConditionExpression: `NOT id IN (${many(count, () => ':v').join(', ')})`, ...values }),
    [100],
    [101],
    'ValidationException',
  ],
  [
    'length of a placeholder',
    (length) => update(`SET a = :${x(length)}`, { [`:${x(length)}`]: { S: '' } }),
    [254],
    [255],
    'ValidationException',
  ],
  [
    'size of all placeholders',
    (size) => put({ ConditionExpression: 'id <> :v', ExpressionAttributeValues: { ':v': { S: x(size) } } }),
    [],
    [2 * MIB],
    'ValidationException',
  ],
];

const S3: Limit[] = [
  [
    'key of an object',
    (key) => s3('PUT', `/${encodeURIComponent(key)}`),
    [`a${'あ'.repeat(341)}`],
    [`ab${'あ'.repeat(341)}`],
    'KeyTooLongError',
  ],
  [
    'metadata of an object',
    (size) => s3('PUT', '/key', { 'x-amz-meta-name': x(size) }),
    [2 * KIB - 4],
    [2 * KIB - 3],
    'MetadataTooLarge',
  ],
  [
    'checksum of an object',
    (sum) => s3('PUT', '/key', { 'content-md5': sum }),
    // printf body | openssl md5 -binary | base64
    ['hBotaJrYa9FhFEdFPCLG/A=='],
    [Buffer.alloc(16).toString('base64')],
    'BadDigest',
  ],
  [
    'number of deleted objects',
    (count) => s3('POST', '?delete', {}, `<Delete>${'<Object><Key>a</Key></Object>'.repeat(count)}</Delete>`),
    [1_000],
    [0, 1_001],
    'MalformedXML',
  ],
  ['id of a lifecycle rule', (id) => rule(id, 1), [x(255)], [x(256)], 'InvalidArgument'],
  ['days of a lifecycle rule', (days) => rule('id', days), [1], [0], 'InvalidArgument'],
];

const SECRETS: Limit[] = [
  [
    'bytes of a secret',
    (count) => secret('PutSecretValue', { SecretString: 'あ'.repeat(count) }),
    [21_845],
    [21_846],
    'ValidationException',
  ],
  [
    'name of a secret',
    (Name) => aws.json('secretsmanager', 'CreateSecret', { Name }),
    ['a/b'],
    ['a name'],
    'ValidationException',
  ],
  [
    'number of labels of a version',
    (VersionStage) => secret('UpdateSecretVersionStage', { VersionStage, MoveToVersionId: LABELLED }),
    ['label-19'],
    ['another'],
    'LimitExceededException',
  ],
];

const logs = (input: object) => aws.json('logs', 'FilterLogEvents', { logGroupName: 'group', ...input });
const records = (...Records: object[]) =>
  aws.json('firehose', 'PutRecordBatch', { DeliveryStreamName: 'none', Records });
const alarmAsForm = async (fields: Record<string, string>) => {
  const form = {
    Action: 'SetAlarmState',
    AlarmName: 'none',
    StateValue: 'OK',
    StateReason: 'why',
    ...fields,
  };
  const body = new URLSearchParams(form).toString();
  const answer = await send(endpoint, { headers: { authorization: signedFor('monitoring') }, body });
  throw new Error(answer.body.toString());
};

/** One example for each kind of limit in AWS' models. What is accepted fails later, because it names nothing. */
const MODELS: Limit[] = [
  [
    'presence of a member',
    (QueueUrl) => aws.json('sqs', 'SendMessage', { QueueUrl, MessageBody: 'a' }),
    [],
    [undefined],
    "Value null at 'queueUrl'",
  ],
  ['type of a member', (limit) => logs({ limit }), [], ['1', 1.5, {}], 'SerializationException'],
  ['number', (limit) => logs({ limit }), [], [0, 10_001], "at 'limit' failed to satisfy constraint"],
  [
    'number of entries',
    (count) => records(...many(count, () => ({ Data: 'YQ==' }))),
    [],
    [0, 501],
    "at 'records' failed",
  ],
  [
    'bytes of a blob',
    (size) => records({ Data: Buffer.alloc(size).toString('base64') }),
    [],
    [1_024_001],
    "at 'records.1.member.data' failed",
  ],
  [
    'length of a text',
    (SecretId) => secret('GetSecretValue', { SecretId }),
    [],
    ['', x(2_049)],
    "at 'secretId' failed",
  ],
  [
    'pattern of a text',
    (logGroupName) => logs({ logGroupName }),
    [],
    ['a b'],
    'satisfy regular expression pattern',
  ],
  ['listed values', (ReturnValues) => put({ ReturnValues }), ['NONE'], ['OTHER'], 'satisfy enum value set'],
  [
    'values of a form',
    (StateReason) => alarmAsForm({ StateReason }),
    [],
    [x(1_024)],
    'less than or equal to 1023',
  ],
];

describe('AWS’ models limit the', () => {
  test.each(MODELS)('%s', async (_what, call, accepted, refused, code) => {
    for (const each of accepted) await call(each);
    for (const each of refused) await expect(call(each)).rejects.toThrow(code);
  });

  test('values of an input, and an error names all violations', async () => {
    const both = aws.json('sqs', 'SendMessage', {});
    await expect(both).rejects.toThrow('2 validation errors detected: Value null at');
  });
});

describe('AWS’ guides limit the', () => {
  test.each([...SQS, ...SNS, ...DYNAMODB, ...S3, ...SECRETS])(
    '%s',
    async (_what, call, accepted, refused, code) => {
      for (const each of accepted) await call(each);
      for (const each of refused) await expect(call(each)).rejects.toThrow(code);
    },
  );
});
