import { describe, expect, test } from '@jest/globals';
import { compilePolicy, type PolicyStatement } from '../../../local/aws/authorization.ts';
import { type ArnContext, permissionsOf } from '../../../local/aws/permissions.ts';
import { parseRequest } from '../../../local/aws/request.ts';
import { signedFor } from './support.ts';

const SECRET_ARN = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:webhook-AbCdEf';
const stack: ArnContext = {
  region: 'eu-central-1',
  secretArn: (id) => (id === 'webhook' ? SECRET_ARN : undefined),
};
const ORDERS = 'arn:aws:sqs:eu-central-1:000000000000:orders';
const TABLE = 'arn:aws:dynamodb:eu-central-1:000000000000:table';
const TOPIC = 'arn:aws:sns:eu-central-1:000000000000:chat';
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
  const withTarget = (service: string, target: string) => ({
    authorization: signedFor(service),
    'x-amz-target': target,
  });

  test.each([
    { action: 'SendMessage', parameters: { QueueUrl }, needs: [ORDERS] },
    { action: 'GetQueueUrl', parameters: { QueueName: 'orders' }, needs: [ORDERS] },
    { action: 'StartMessageMoveTask', parameters: { SourceArn: ORDERS }, needs: [ORDERS] },
    { action: 'ListQueues', parameters: {}, needs: ['*'] },
  ])('sqs:$action', ({ action, parameters, needs }) => {
    const request = parse({
      headers: withTarget('sqs', `AmazonSQS.${action}`),
      body: JSON.stringify(parameters),
    });
    expect(request).toMatchObject({
      operation: action,
      parameters,
      protocol: 'json',
      accessKeyId: 'operator',
    });
    expect(permissionsOf(request, stack)).toEqual(
      needs.map((resource) => ({ action: `sqs:${action}`, resource })),
    );
  });

  test.each(['SendMessage', 'DeleteMessage'])('a batch of SQS needs sqs:%s', (single) => {
    const headers = withTarget('sqs', `AmazonSQS.${single}Batch`);
    const request = parse({ headers, body: JSON.stringify({ QueueUrl }) });
    expect(permissionsOf(request, stack)).toEqual([{ action: `sqs:${single}`, resource: ORDERS }]);
  });

  test.each([
    { action: 'GetItem', parameters: { TableName: 'cast' }, needs: [`${TABLE}/cast`] },
    { action: 'GetItem', parameters: { TableName: `${TABLE}/cast` }, needs: [`${TABLE}/cast`] },
    {
      action: 'Query',
      parameters: { TableName: 'cast', IndexName: 'shop' },
      needs: [`${TABLE}/cast/index/shop`],
    },
    {
      action: 'BatchGetItem',
      parameters: { RequestItems: { a: {}, b: {} } },
      needs: [`${TABLE}/a`, `${TABLE}/b`],
    },
    { action: 'BatchWriteItem', parameters: { RequestItems: { a: [] } }, needs: [`${TABLE}/a`] },
    { action: 'ListTables', parameters: {}, needs: ['*'] },
  ])('dynamodb:$action $needs', ({ action, parameters, needs }) => {
    const headers = withTarget('dynamodb', `DynamoDB_20120810.${action}`);
    const request = parse({ headers, body: JSON.stringify(parameters) });
    expect(permissionsOf(request, stack)).toEqual(
      needs.map((resource) => ({ action: `dynamodb:${action}`, resource })),
    );
  });

  test.each(['webhook', SECRET_ARN])('a secret that is named %s is known by its whole ARN', (SecretId) => {
    const headers = withTarget('secretsmanager', 'secretsmanager.GetSecretValue');
    const request = parse({ headers, body: JSON.stringify({ SecretId }) });
    expect(permissionsOf(request, stack)).toEqual([
      { action: 'secretsmanager:GetSecretValue', resource: SECRET_ARN },
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
    expect(permissionsOf(request, stack)).toEqual([{ action, resource }]);
  });
});

describe('an S3 request', () => {
  const s3 = ({ headers, ...rest }: Sent) =>
    parse({ ...rest, headers: { authorization: signedFor('s3'), ...headers } });

  test.each([
    { sent: 'GET /', operation: 'ListBuckets', action: 'ListAllMyBuckets', resource: '*' },
    { sent: 'PUT /b', operation: 'CreateBucket', action: 'CreateBucket', resource: 'arn:aws:s3:::b' },
    {
      sent: 'GET /b/?list-type=2',
      operation: 'ListObjects',
      action: 'ListBucket',
      resource: 'arn:aws:s3:::b',
    },
    { sent: 'PUT /b/a/b%20c', operation: 'PutObject', action: 'PutObject', resource: 'arn:aws:s3:::b/a/b c' },
    { sent: 'HEAD /b/a', operation: 'HeadObject', action: 'GetObject', resource: 'arn:aws:s3:::b/a' },
    {
      sent: 'PUT /b/a?partNumber=1&uploadId=u',
      operation: 'UploadPart',
      action: 'PutObject',
      resource: 'arn:aws:s3:::b/a',
    },
    {
      sent: 'DELETE /b/a?uploadId=u',
      operation: 'AbortMultipartUpload',
      action: 'AbortMultipartUpload',
      resource: 'arn:aws:s3:::b/a',
    },
  ])('$sent is $operation', ({ sent, operation, action, resource }) => {
    const [method = '', url = ''] = sent.split(' ');
    const request = s3({ method, url });
    expect(request).toMatchObject({ operation, protocol: 'rest-xml', http: { url } });
    expect(permissionsOf(request, stack)).toEqual([{ action: `s3:${action}`, resource }]);
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
    expect(permissionsOf(s3({ method: 'PUT', url: '/b/to', headers }), stack)).toEqual([
      { action: 's3:PutObject', resource: 'arn:aws:s3:::b/to' },
      { action: 's3:GetObject', resource: 'arn:aws:s3:::a/from x' },
    ]);
  });

  test('that deletes several objects needs rights to each of them', () => {
    const body = '<Delete><Object><Key>a</Key></Object><Object><Key>b&amp;c</Key></Object></Delete>';
    expect(permissionsOf(s3({ url: '/bucket?delete', body }), stack)).toEqual([
      { action: 's3:DeleteObject', resource: 'arn:aws:s3:::bucket/a' },
      { action: 's3:DeleteObject', resource: 'arn:aws:s3:::bucket/b&c' },
    ]);
  });

  test('for an unsupported sub-resource is not another operation', () => {
    expect(() => s3({ method: 'PUT', url: '/bucket?policy' })).toThrow(/\?policy is not supported/);
  });
});

describe('the caller', () => {
  test.each([
    '/b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAX%2F20260101%2Feu-west-1%2Fs3%2Faws4_request',
    // In the format of `aws s3 presign`.
    '/b/k?AWSAccessKeyId=AKIAX&Signature=x&Expires=1',
  ])('of a presigned address is in its query string: %s', (url) => {
    expect(parse({ method: 'GET', url })).toMatchObject({ accessKeyId: 'AKIAX', service: 's3' });
  });

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
    compilePolicy([allow({ Action: '*', Resource: '*', Condition })])('sqs:SendMessage', ORDERS);

  test.each([
    { condition: { Bool: { 'aws:SecureTransport': 'true' } }, decision: 'allowed' },
    { condition: { Bool: { 'aws:SecureTransport': 'false' } }, decision: 'not allowed' },
    { condition: { StringLike: { 'AWS:securetransport': ['x', 't*'] } }, decision: 'allowed' },
    // Nothing here has a source.
    { condition: { ArnEquals: { 'aws:SourceArn': '*' } }, decision: 'not allowed' },
    {
      condition: { StringEquals: { 'aws:SecureTransport': 'true', 'aws:PrincipalTag/a': 'b' } },
      decision: 'not allowed',
    },
  ])('under the condition $condition', ({ condition, decision }) => {
    expect(under(condition)).toBe(decision);
  });

  test('with an unsupported condition operator is an error that names it', () => {
    expect(() => under({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'x' } })).toThrow(
      'The condition operator ForAllValues:StringEquals is not supported here.',
    );
  });
});
