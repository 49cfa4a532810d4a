import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { arnOf } from '../../aws/service-forms.ts';
import { awsCaller } from '../../aws-caller.ts';
import { send, signedFor, startEndpoint } from '../support.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
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

const published = (field: string) => (value: string) =>
  aws.form('sns', {
    Action: 'Publish',
    TopicArn: arnOf('sns', 'topic'),
    Message: 'm',
    ...(field.startsWith(ATTRIBUTE) && {
      [`${ATTRIBUTE}.Name`]: 'shop_id',
      [`${ATTRIBUTE}.Value.DataType`]: 'String',
    }),
    [field]: value,
  });
const ATTRIBUTE = 'MessageAttributes.entry.1';

const put = (input: object) =>
  aws.json('dynamodb', 'PutItem', { TableName: 'table', Item: { id: { S: 'id' } }, ...input });
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
const x = (count: number) => 'x'.repeat(count);

/** A limit of AWS: what it limits, a call with a value, values that are accepted and refused, and the error's code. */
type Limit = [
  what: string,
  // biome-ignore lint/suspicious/noExplicitAny: the values of each row have the type of its call.
  call: (value: any) => Promise<unknown>,
  accepted: unknown[],
  refused: unknown[],
  code?: string,
];

/** @param code of the limits that name no other */
const limits = (code: string, rows: Limit[]) =>
  rows.map(([what, call, accepted, refused, own = code]) => ({ what, call, accepted, refused, code: own }));

const receives = (count: number) => queue('source', { RedrivePolicy: `{"maxReceiveCount":${count}}` });
const group = (MessageGroupId: string) => message({ MessageGroupId });
const GROUP = 'aZ9!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const named = (count: number) =>
  attributes(Object.fromEntries(many(count, (index) => [`a${index}`, text('x')])));
const secondIs = (Id: string) => batch({ Id: 'a', DelaySeconds: 901 }, { Id });
/** A batch of half a MiB and this size. Above half a MiB, the second entry is also refused for itself. */
const batchOf = (size: number) =>
  batch({ MessageBody: x(MIB / 2) }, { MessageBody: x(size), DelaySeconds: size > MIB / 2 ? 901 : 0 });

const SQS = limits('InvalidParameterValue', [
  ['name of a queue', queue, [x(80)], [x(81), 'a b']],
  ['number of receives before a dead letter', receives, [], [0, 1_001]],
  ['id in a batch', (Id) => batch({ Id }), [x(80)], [x(81), 'a b'], 'InvalidBatchEntryId'],
  ['ids of a batch: they differ', secondIs, [], ['a'], 'BatchEntryIdsNotDistinct'],
  ['size of a batch', batchOf, [MIB / 2], [MIB / 2 + 1], 'BatchRequestTooLong'],
  ['group id of a message', group, [GROUP], ['a b', '', 'é', x(129)]],
  ['delay of a message', (DelaySeconds) => message({ DelaySeconds }), [900], [901]],
  ['number of attributes', named, [10], [11]],
  ['name of an attribute', (name) => attributes({ [name]: text('x') }), ['a-.b'], ['a b', 'a.']],
  ['text of an attribute', (a) => attributes({ a: text(a) }), ['😀'], ['', '\u0001']],
  [
    'type of an attribute',
    (of) => attributes({ a: text('x', of) }),
    ['String.a'],
    ['Text', '', `String.${x(250)}`],
  ],
  [
    'number of an attribute',
    (number) => attributes({ a: text(number, 'Number') }),
    [`-${'1'.repeat(37)}.1e-5`],
    ['1'.repeat(39), 'one'],
  ],
  [
    'characters of a message',
    (MessageBody) => message({ MessageBody }),
    ['emoji 😀 and 𝒜', 'tab\tline\nreturn\r', '\uFFFD'],
    ['\u0000', 'a\uFFFE'],
    'InvalidMessageContents',
  ],
]);

/** Sources: Amazon SNS API reference, `Publish`; developer guide, "Message attribute data types and validation". */
const SNS = limits('InvalidParameter', [
  ['subject', published('Subject'), ['花子 🌸', x(99)], [x(100), 'a\nb', 'a\u2028b', 'a\tb', '']],
  [
    'attribute of a notification',
    published('MessageAttributes.entry.1.Value.StringValue'),
    ['花子', 'shop "1"\\', x(2048)],
    ['shop-🌸', 'shop-𠮷', 'shop\t1', 'shop\n1', ''],
  ],
]);

const assigned = (length: number) => update(`SET ${x(length)} = :v`, values.ExpressionAttributeValues);
const compared = (count: number) => {
  const operands = many(count, (index) => `a${index} = :v`).join(' OR ');
  return put({ ConditionExpression: `id <> :v OR ${operands}`, ...values });
};
const among = (count: number) =>
  put({ ConditionExpression: `NOT id IN (${many(count, () => ':v').join(', ')})`, ...values });
const placed = (length: number) => update(`SET a = :${x(length)}`, { [`:${x(length)}`]: { S: '' } });
const placedSize = (size: number) =>
  put({ ConditionExpression: 'id <> :v', ExpressionAttributeValues: { ':v': { S: x(size) } } });

const DYNAMODB = limits('ValidationException', [
  ['nesting of an item', (levels) => put({ Item: { id: { S: 'id' }, a: nested(levels) } }), [32], [33]],
  ['length of an expression', assigned, [], [4 * KIB]],
  ['number of operators in an expression', compared, [149], [151]],
  ['number of operands', among, [100], [101]],
  ['length of a placeholder', placed, [254], [255]],
  ['size of all placeholders', placedSize, [], [2 * MIB]],
]);

const deleted = (count: number) =>
  s3('POST', '?delete', {}, `<Delete>${'<Object><Key>a</Key></Object>'.repeat(count)}</Delete>`);
const keyed = (key: string) => s3('PUT', `/${encodeURIComponent(key)}`);
const described = (size: number) => s3('PUT', '/key', { 'x-amz-meta-name': x(size) });
const summed = (sum: string) => s3('PUT', '/key', { 'content-md5': sum });
/** printf body | openssl md5 -binary | base64 */
const MD5_OF_BODY = 'hBotaJrYa9FhFEdFPCLG/A==';
const OTHER_MD5 = Buffer.alloc(16).toString('base64');

const S3 = limits('InvalidArgument', [
  ['key of an object', keyed, [`a${'あ'.repeat(341)}`], [`ab${'あ'.repeat(341)}`], 'KeyTooLongError'],
  ['metadata of an object', described, [2 * KIB - 4], [2 * KIB - 3], 'MetadataTooLarge'],
  ['checksum of an object', summed, [MD5_OF_BODY], [OTHER_MD5], 'BadDigest'],
  ['number of deleted objects', deleted, [1_000], [0, 1_001], 'MalformedXML'],
  ['id of a lifecycle rule', (id) => rule(id, 1), [x(255)], [x(256)]],
  ['days of a lifecycle rule', (days) => rule('id', days), [1], [0]],
]);

const secretOf = (count: number) => secret('PutSecretValue', { SecretString: 'あ'.repeat(count) });
const create = (Name: string) => aws.json('secretsmanager', 'CreateSecret', { Name });
const SECRETS = limits('ValidationException', [
  ['bytes of a secret', secretOf, [21_845], [21_846]],
  ['name of a secret', create, ['a/b'], ['a name']],
]);

const logs = (input: object) => aws.json('logs', 'FilterLogEvents', { logGroupName: 'group', ...input });
const records = (...Records: object[]) =>
  aws.json('firehose', 'PutRecordBatch', { DeliveryStreamName: 'none', Records });
const numbered = (count: number) => records(...many(count, () => ({ Data: 'YQ==' })));
const sized = (size: number) => records({ Data: Buffer.alloc(size).toString('base64') });
const toQueue = (url: unknown) => aws.json('sqs', 'SendMessage', { QueueUrl: url, MessageBody: 'a' });
const found = (SecretId: string) => secret('GetSecretValue', { SecretId });
const subscribed = (topic: object) => aws.form('sns', { Action: 'Subscribe', Protocol: 'sqs', ...topic });

/** One example for each kind of limit in AWS' models. What is accepted fails later, because it names nothing. */
const MODELS = limits('failed to satisfy constraint', [
  ['presence of a member', toQueue, [], [undefined], "Value null at 'queueUrl'"],
  ['type of a member', (limit) => logs({ limit }), [], ['1', 1.5, {}], 'SerializationException'],
  ['number', (limit) => logs({ limit }), [], [0, 10_001], "at 'limit' failed to satisfy constraint"],
  ['number of entries', numbered, [], [0, 501], "at 'records' failed"],
  ['bytes of a blob', sized, [], [1_024_001], "at 'records.1.member.data' failed"],
  ['length of a text', found, [], ['', x(2_049)], "at 'secretId' failed"],
  [
    'pattern of a text',
    (name) => logs({ logGroupName: name }),
    [],
    ['a b'],
    'satisfy regular expression pattern',
  ],
  ['listed values', (ReturnValues) => put({ ReturnValues }), ['NONE'], ['OTHER'], 'satisfy enum value set'],
  ['values of a form', subscribed, [], [{}], 'Member must not be null'],
]);

test('an error of AWS’ models names all violations', async () => {
  await expect(aws.json('sqs', 'SendMessage', {})).rejects.toThrow(
    '2 validation errors detected: Value null at',
  );
});

test.each([...MODELS, ...SQS, ...SNS, ...DYNAMODB, ...S3, ...SECRETS])(
  'AWS limits the $what',
  async ({ call, accepted, refused, code }) => {
    for (const each of accepted) await call(each);
    for (const each of refused) await expect(call(each)).rejects.toThrow(code);
  },
);
