import { describe, expect, test } from '@jest/globals';
import { compilePolicy, type PolicyStatement } from '../../aws/authorization.ts';
import { type FindSecretArn, permissionsOf } from '../../aws/permissions.ts';
import { parseRequest } from '../../aws/request.ts';
import { arnOf, SERVICES } from '../../aws/services.ts';
import { signedFor } from './support.ts';

const SECRET_ARN = arnOf('secretsmanager', 'secret:webhook-AbCdEf');
const secretArn: FindSecretArn = (id) => (id === 'webhook' ? SECRET_ARN : undefined);
const ORDERS = arnOf('sqs', 'orders');
const TABLE = arnOf('dynamodb', 'table');
const TOPIC = arnOf('sns', 'chat');
const QueueUrl = 'http://localhost:4566/000000000000/orders';

interface Sent {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const parse = ({ method = 'POST', url = '/', headers = {}, body = '' }: Sent) =>
  parseRequest({ method, url, headers, body: Buffer.from(body) });

describe('the permissions that a request needs', () => {
  const log = (group: string) => arnOf('logs', `log-group:${group}:*`);

  test.each<[call: string, parameters: Record<string, unknown>, needs: string[]]>([
    ['AmazonSQS.SendMessage', { QueueUrl }, [ORDERS]],
    ['AmazonSQS.GetQueueUrl', { QueueName: 'orders' }, [ORDERS]],
    ['AmazonSQS.ListQueues', {}, ['*']],
    ['DynamoDB_20120810.GetItem', { TableName: 'cast' }, [`${TABLE}/cast`]],
    ['DynamoDB_20120810.GetItem', { TableName: `${TABLE}/a` }, [`${TABLE}/a`]],
    ['DynamoDB_20120810.Query', { TableName: 'cast', IndexName: 'shop' }, [`${TABLE}/cast/index/shop`]],
    ['DynamoDB_20120810.ListTables', {}, ['*']],
    ['secretsmanager.GetSecretValue', { SecretId: 'webhook' }, [SECRET_ARN]],
    ['secretsmanager.GetSecretValue', { SecretId: SECRET_ARN }, [SECRET_ARN]],
    [
      'Firehose_20150804.PutRecordBatch',
      { DeliveryStreamName: 's' },
      [arnOf('firehose', 'deliverystream/s')],
    ],
    ['Firehose_20150804.ListDeliveryStreams', {}, ['*']],
    ['Logs_20140328.FilterLogEvents', { logGroupName: 'a' }, [log('a')]],
    ['Logs_20140328.StartQuery', { logGroupNames: ['a', 'b'] }, [log('a'), log('b')]],
  ])('%s with %j', (call, parameters, needs) => {
    const [target, operation = ''] = call.split('.');
    const [service = ''] =
      Object.entries(SERVICES).find(([, form]) => 'target' in form && form.target === target) ?? [];
    const request = parse({
      headers: { authorization: signedFor(service), 'x-amz-target': call },
      body: JSON.stringify(parameters),
    });
    expect(request).toMatchObject({ operation, parameters, protocol: 'json', accessKeyId: 'operator' });
    expect(permissionsOf(request, secretArn)).toEqual(
      needs.map((resource) => ({ action: `${service}:${operation}`, resource })),
    );
  });

  test.each(['SendMessage', 'DeleteMessage'])('a batch of SQS needs sqs:%s', (single) => {
    const headers = { authorization: signedFor('sqs'), 'x-amz-target': `AmazonSQS.${single}Batch` };
    const request = parse({ headers, body: JSON.stringify({ QueueUrl }) });
    expect(permissionsOf(request, secretArn)).toEqual([{ action: `sqs:${single}`, resource: ORDERS }]);
  });

  test('an alarm needs cloudwatch on its ARN', () => {
    const target = 'GraniteServiceVersion20100801.SetAlarmState';
    const headers = { authorization: signedFor('monitoring'), 'x-amz-target': target };
    expect(permissionsOf(parse({ headers, body: '{"AlarmName":"a"}' }), secretArn)).toEqual([
      { action: 'cloudwatch:SetAlarmState', resource: arnOf('cloudwatch', 'alarm:a') },
    ]);
  });

  test('a change of an event source mapping needs lambda on its ARN', () => {
    const url = '/2015-03-31/event-source-mappings/u-1';
    const headers = { authorization: signedFor('lambda') };
    expect(permissionsOf(parse({ method: 'PUT', url, headers, body: '{}' }), secretArn)).toEqual([
      {
        action: 'lambda:UpdateEventSourceMapping',
        resource: arnOf('lambda', 'event-source-mapping:u-1'),
      },
    ]);
  });

  test.each([
    { form: { Action: 'PublishBatch', TopicArn: TOPIC }, action: 'sns:Publish', resource: TOPIC },
    {
      form: { Action: 'Unsubscribe', SubscriptionArn: `${TOPIC}:1-2-3` },
      action: 'sns:Unsubscribe',
      resource: TOPIC,
    },
    { form: { Action: 'CreateTopic', Name: 'chat' }, action: 'sns:CreateTopic', resource: TOPIC },
    { form: { Action: 'ListTopics' }, action: 'sns:ListTopics', resource: '*' },
  ])('$form.Action', ({ form, action, resource }) => {
    const request = parse({
      headers: { authorization: signedFor('sns') },
      body: new URLSearchParams(form).toString(),
    });
    expect(request).toMatchObject({ operation: form.Action, protocol: 'query' });
    expect(permissionsOf(request, secretArn)).toEqual([{ action, resource }]);
  });
});

describe('an S3 request', () => {
  const s3 = ({ headers, ...rest }: Sent) =>
    parse({ ...rest, headers: { authorization: signedFor('s3'), ...headers } });

  test.each([
    ['GET /', 'ListBuckets', 'ListAllMyBuckets', '*'],
    ['PUT /b', 'CreateBucket', 'CreateBucket', 'arn:aws:s3:::b'],
    ['GET /b/?list-type=2', 'ListObjects', 'ListBucket', 'arn:aws:s3:::b'],
    ['PUT /b/a/b%20c', 'PutObject', 'PutObject', 'arn:aws:s3:::b/a/b c'],
    ['HEAD /b/a', 'HeadObject', 'GetObject', 'arn:aws:s3:::b/a'],
    ['PUT /b/a?partNumber=1&uploadId=u', 'UploadPart', 'PutObject', 'arn:aws:s3:::b/a'],
    ['DELETE /b/a?uploadId=u', 'AbortMultipartUpload', 'AbortMultipartUpload', 'arn:aws:s3:::b/a'],
  ])('%s is %s and needs s3:%s on %s', (sent, operation, action, resource) => {
    const [method = '', url = ''] = sent.split(' ');
    const request = s3({ method, url });
    expect(request).toMatchObject({ operation, protocol: 'rest-xml', http: { url } });
    expect(permissionsOf(request, secretArn)).toEqual([{ action: `s3:${action}`, resource }]);
  });

  test.each([
    { host: 'payloads.localhost:4566', url: '/a', asked: '/payloads/a' },
    { host: 'pay.loads.s3.localhost', url: '/a?x=1', asked: '/pay.loads/a?x=1' },
    { host: 's3.localhost:4566', url: '/payloads/a', asked: '/payloads/a' },
    { host: '127.0.0.1:4566', url: '/payloads/a', asked: '/payloads/a' },
    { host: 'host.docker.internal:4566', url: '/payloads/a', asked: '/payloads/a' },
  ])('to the host $host needs $asked', ({ host, url, asked }) => {
    expect(s3({ method: 'GET', url, headers: { host } }).http.url).toBe(asked);
  });

  test('that copies also needs to read its source', () => {
    const headers = { 'x-amz-copy-source': '/a/from%20x' };
    expect(permissionsOf(s3({ method: 'PUT', url: '/b/to', headers }), secretArn)).toEqual([
      { action: 's3:PutObject', resource: 'arn:aws:s3:::b/to' },
      { action: 's3:GetObject', resource: 'arn:aws:s3:::a/from x' },
    ]);
  });

  test('that deletes several objects needs rights to each of them', () => {
    const body = '<Delete><Object><Key>a</Key></Object><Object><Key>b&amp;c</Key></Object></Delete>';
    expect(permissionsOf(s3({ url: '/bucket?delete', body }), secretArn)).toEqual([
      { action: 's3:DeleteObject', resource: 'arn:aws:s3:::bucket/a' },
      { action: 's3:DeleteObject', resource: 'arn:aws:s3:::bucket/b&c' },
    ]);
  });

  test('for an unsupported sub-resource is not another operation', () => {
    expect(() => s3({ method: 'PUT', url: '/bucket?policy' })).toThrow(/\?policy is not supported/);
  });
});

describe('the caller', () => {
  test('that is missing is undefined', () => {
    expect(() => parse({ url: '/b/k' })).toThrow('Request is missing Authentication Token');
  });

  test('that signed for another service than its target is refused', () => {
    const headers = { authorization: signedFor('dynamodb'), 'x-amz-target': 'AmazonSQS.SendMessage' };
    expect(() => parse({ headers, body: '{}' })).toThrow(/the signature is for dynamodb/);
  });
});

describe('a policy', () => {
  const allow = (rest: Omit<PolicyStatement, 'Effect'>): PolicyStatement => ({ Effect: 'Allow', ...rest });
  const all = allow({ Action: '*', Resource: '*' });
  const deny: PolicyStatement = { Effect: 'Deny', Action: 'sqs:*', Resource: '*' };

  test.each([
    { what: 'its action and resource', statements: [allow({ Action: 'sqs:SendMessage', Resource: ORDERS })] },
    {
      what: 'lists',
      statements: [allow({ Action: ['sqs:X', 'SQS:sendmessage'], Resource: ['arn:x', ORDERS] })],
    },
    { what: '* in an action', statements: [allow({ Action: 'sqs:Send*', Resource: '*' })] },
    { what: '* across an ARN', statements: [allow({ Action: '*', Resource: 'arn:*orders' })] },
    {
      what: '? in a resource',
      statements: [allow({ Action: '*', Resource: ORDERS.replace('orders', 'order?') })],
    },
  ])('allows $what', ({ statements }) => {
    expect(compilePolicy(statements)('sqs:SendMessage', ORDERS)).toBe('allowed');
  });

  test.each([
    { what: 'nothing without statements', statements: [] },
    {
      what: 'no resource in other case',
      statements: [allow({ Action: '*', Resource: ORDERS.toUpperCase() })],
    },
    { what: 'by ? one character alone', statements: [allow({ Action: 'sqs:Send?', Resource: '*' })] },
    {
      what: 'by a dot a dot alone',
      statements: [allow({ Action: '*', Resource: ORDERS.replace('orders', 'order.') })],
    },
    {
      what: 'nothing by the action of one statement and the resource of another',
      statements: [
        allow({ Action: 'sqs:SendMessage', Resource: 'arn:x' }),
        allow({ Action: 'sqs:X', Resource: ORDERS }),
      ],
    },
  ])('allows $what', ({ statements }) => {
    expect(compilePolicy(statements)('sqs:SendMessage', ORDERS)).toBe('not allowed');
  });

  test.each([{ statements: [deny, all] }, { statements: [all, deny] }])(
    'denies in any order',
    ({ statements }) => {
      expect(compilePolicy(statements)('sqs:SendMessage', ORDERS)).toBe('explicitly denied');
    },
  );

  test('that names a resource does not allow an action that has none', () => {
    const policy = compilePolicy([allow({ Action: 'sqs:ListQueues', Resource: ORDERS })]);
    expect(policy('sqs:ListQueues', '*')).toBe('not allowed');
  });

  const under = (Condition: PolicyStatement['Condition'] & object) =>
    compilePolicy([{ ...all, Condition }])('sqs:SendMessage', ORDERS);

  test.each([
    { condition: { Bool: { 'aws:SecureTransport': ['x', 'true'] } }, decision: 'allowed' },
    { condition: { StringEquals: { 'kms:CallerAccount': '111122223333' } }, decision: 'not allowed' },
    // A request to this endpoint has no tags.
    {
      condition: { StringEquals: { 'aws:SecureTransport': 'true', 'aws:PrincipalTag/a': '' } },
      decision: 'not allowed',
    },
  ])('under the condition $condition', ({ condition, decision }) => {
    expect(under(condition)).toBe(decision);
  });

  test('with an unsupported condition operator is an error that names it', () => {
    const unsupported = { StringLike: { 'dynamodb:LeadingKeys': 'x' } };
    expect(() => under(unsupported)).toThrow('The condition operator StringLike is not supported here');
  });
});
