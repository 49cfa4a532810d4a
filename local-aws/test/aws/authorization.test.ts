import { describe, expect, test } from '@jest/globals';
import { compilePolicy, type PolicyStatement } from '../../aws/authorization.ts';
import { type FindSecretArn, permissionsOf } from '../../aws/permissions.ts';
import { parseRequest } from '../../aws/request.ts';
import { type AwsHttpRequest, arnOf, SERVICES } from '../../aws/service-forms.ts';
import { signedFor } from '../support.ts';

const SECRET_ARN = arnOf('secretsmanager', 'secret:webhook-AbCdEf');
const secretArn: FindSecretArn = (id) => (id === 'webhook' ? SECRET_ARN : undefined);
const ORDERS = arnOf('sqs', 'orders');
const TABLE = arnOf('dynamodb', 'table');
const STREAM = arnOf('firehose', 'deliverystream/s');
const ALARM = arnOf('cloudwatch', 'alarm:a');
const TOPIC = arnOf('sns', 'chat');
const MONITORING = SERVICES.monitoring.target;
const QueueUrl = 'http://localhost:4566/000000000000/orders';

type Sent = Partial<Omit<AwsHttpRequest, 'body'>> & { readonly body?: string };

const parse = (service: string, { method = 'POST', url = '/', headers = {}, body = '' }: Sent) =>
  parseRequest({
    method,
    url,
    headers: { authorization: signedFor(service), ...headers },
    body: Buffer.from(body),
  });

describe('the permissions that a request needs', () => {
  const log = (group: string) => arnOf('logs', `log-group:${group}:*`);

  test.each<[call: string, parameters: Record<string, unknown>, needs: string[], action?: string]>([
    ['AmazonSQS.SendMessage', { QueueUrl }, [ORDERS]],
    ['AmazonSQS.SendMessageBatch', { QueueUrl }, [ORDERS], 'sqs:SendMessage'],
    ['AmazonSQS.DeleteMessageBatch', { QueueUrl }, [ORDERS], 'sqs:DeleteMessage'],
    ['AmazonSQS.GetQueueUrl', { QueueName: 'orders' }, [ORDERS]],
    ['AmazonSQS.ListQueues', {}, ['*']],
    ['DynamoDB_20120810.GetItem', { TableName: 'cast' }, [`${TABLE}/cast`]],
    ['DynamoDB_20120810.GetItem', { TableName: `${TABLE}/a` }, [`${TABLE}/a`]],
    ['DynamoDB_20120810.Query', { TableName: 'cast', IndexName: 'shop' }, [`${TABLE}/cast/index/shop`]],
    ['secretsmanager.GetSecretValue', { SecretId: 'webhook' }, [SECRET_ARN]],
    ['secretsmanager.GetSecretValue', { SecretId: SECRET_ARN }, [SECRET_ARN]],
    ['Firehose_20150804.PutRecordBatch', { DeliveryStreamName: 's' }, [STREAM]],
    ['Logs_20140328.FilterLogEvents', { logGroupName: 'a' }, [log('a')]],
    ['Logs_20140328.StartQuery', { logGroupNames: ['a', 'b'] }, [log('a'), log('b')]],
    [`${MONITORING}.SetAlarmState`, { AlarmName: 'a' }, [ALARM], 'cloudwatch:SetAlarmState'],
  ])('%s with %j', (call, parameters, needs, ...[action]) => {
    const [target, operation = ''] = call.split('.');
    const [service = ''] =
      Object.entries(SERVICES).find(([, form]) => 'target' in form && form.target === target) ?? [];
    const request = parse(service, { headers: { 'x-amz-target': call }, body: JSON.stringify(parameters) });
    expect(request).toMatchObject({ operation, parameters, protocol: 'json', accessKeyId: 'operator' });
    expect(permissionsOf(request, secretArn)).toEqual(
      needs.map((resource) => ({ action: action ?? `${service}:${operation}`, resource })),
    );
  });

  const MAPPING = '/2015-03-31/event-source-mappings/u-1';
  const copied = { headers: { 'x-amz-copy-source': '/a/from%20x' } };
  const deleted = {
    body: '<Delete><Object><Key>a</Key></Object><Object><Key>b&amp;c</Key></Object></Delete>',
  };
  test.each<[service: string, sent: string, operation: string, rest: Sent, ...needs: string[]]>([
    [
      'lambda',
      `PUT ${MAPPING}`,
      'UpdateEventSourceMapping',
      { body: '{}' },
      `lambda:UpdateEventSourceMapping ${arnOf('lambda', 'event-source-mapping:u-1')}`,
    ],
    ['sns', `POST /?TopicArn=${TOPIC}`, 'PublishBatch', {}, `sns:Publish ${TOPIC}`],
    ['sns', `POST /?TopicArn=not-this&TopicArn=${TOPIC}`, 'Publish', {}, `sns:Publish ${TOPIC}`],
    ['sns', `POST /?SubscriptionArn=${TOPIC}:1-2-3`, 'Unsubscribe', {}, `sns:Unsubscribe ${TOPIC}`],
    ['sns', 'POST /?Name=chat', 'CreateTopic', {}, `sns:CreateTopic ${TOPIC}`],
    ['sns', 'POST /', 'ListTopics', {}, 'sns:ListTopics *'],
    ['s3', 'GET /', 'ListBuckets', {}, 's3:ListAllMyBuckets *'],
    ['s3', 'PUT /b', 'CreateBucket', {}, 's3:CreateBucket arn:aws:s3:::b'],
    ['s3', 'GET /b/?list-type=2', 'ListObjects', {}, 's3:ListBucket arn:aws:s3:::b'],
    ['s3', 'PUT /b/a/b%20c', 'PutObject', {}, 's3:PutObject arn:aws:s3:::b/a/b c'],
    ['s3', 'HEAD /b/a', 'HeadObject', {}, 's3:GetObject arn:aws:s3:::b/a'],
    [
      's3',
      'PUT /b/to',
      'CopyObject',
      copied,
      's3:PutObject arn:aws:s3:::b/to',
      's3:GetObject arn:aws:s3:::a/from x',
    ],
    [
      's3',
      'POST /b?delete',
      'DeleteObjects',
      deleted,
      's3:DeleteObject arn:aws:s3:::b/a',
      's3:DeleteObject arn:aws:s3:::b/b&c',
    ],
  ])('%s: %s is %s', (service, sent, operation, rest, ...needs) => {
    const [method = '', url = ''] = sent.split(' ');
    const form = service === 'sns' && { body: `Action=${operation}` };
    const request = parse(service, { method, url, ...form, ...rest });
    expect(request.operation).toBe(operation);
    const permissions = permissionsOf(request, secretArn);
    expect(permissions.map(({ action, resource }) => `${action} ${resource}`)).toEqual(needs);
  });
});

describe('an S3 request', () => {
  test.each([
    { host: 'payloads.localhost:4566', url: '/a', asked: '/payloads/a' },
    { host: 'pay.loads.s3.localhost', url: '/a?x=1', asked: '/pay.loads/a?x=1' },
    { host: 's3.localhost:4566', url: '/payloads/a', asked: '/payloads/a' },
    { host: 'host.docker.internal:4566', url: '/payloads/a', asked: '/payloads/a' },
  ])('to the host $host needs $asked', ({ host, url, asked }) => {
    expect(parse('s3', { method: 'GET', url, headers: { host } }).http.url).toBe(asked);
  });

  test.each(['acl', 'partNumber=1', 'policy', 'uploadId=u', 'versionId=1'])(
    'with ?%s is not another operation',
    (parameter) => {
      expect(() => parse('s3', { method: 'PUT', url: `/b/a?${parameter}` })).toThrow(
        /\?\w+ is not supported/,
      );
    },
  );
});

test('a caller that signed for another service than its target is refused', () => {
  const headers = { 'x-amz-target': 'AmazonSQS.SendMessage' };
  expect(() => parse('dynamodb', { headers, body: '{}' })).toThrow(/the signature is for dynamodb/);
});

describe('a policy', () => {
  const allow = (rest: Omit<PolicyStatement, 'Effect'>): PolicyStatement => ({ Effect: 'Allow', ...rest });
  const all = allow({ Action: '*', Resource: '*' });
  const deny: PolicyStatement = { Effect: 'Deny', Action: 'sqs:*', Resource: '*' };

  const dotted = ORDERS.replace('orders', 'order.');
  const inTwo = [
    allow({ Action: 'sqs:SendMessage', Resource: 'arn:x' }),
    allow({ Action: 'sqs:X', Resource: ORDERS }),
  ];
  const lists = allow({ Action: ['sqs:X', 'SQS:sendmessage'], Resource: ['arn:x', ORDERS] });
  test.each<[what: string, decision: string, ...statements: PolicyStatement[]]>([
    ['its action and resource', 'allowed', allow({ Action: 'sqs:SendMessage', Resource: ORDERS })],
    ['lists', 'allowed', lists],
    ['* in an action', 'allowed', allow({ Action: 'sqs:Send*', Resource: '*' })],
    ['* across an ARN', 'allowed', allow({ Action: '*', Resource: 'arn:*orders' })],
    ['? in a resource', 'allowed', allow({ Action: '*', Resource: ORDERS.replace('orders', 'order?') })],
    ['no statements', 'not allowed'],
    ['a resource in other case', 'not allowed', allow({ Action: '*', Resource: ORDERS.toUpperCase() })],
    ['? for several characters', 'not allowed', allow({ Action: 'sqs:Send?', Resource: '*' })],
    ['a dot, which is only a dot', 'not allowed', allow({ Action: '*', Resource: dotted })],
    ['the action of one statement and the resource of another', 'not allowed', ...inTwo],
    ['a denial before the permission', 'explicitly denied', deny, all],
    ['a denial after it', 'explicitly denied', all, deny],
  ])('with %s: %s', (_what, decision, ...statements) => {
    expect(compilePolicy(statements)('sqs:SendMessage', ORDERS)).toBe(decision);
  });

  test('that names a resource does not allow an action that has none', () => {
    const policy = compilePolicy([allow({ Action: 'sqs:ListQueues', Resource: ORDERS })]);
    expect(policy('sqs:ListQueues', '*')).toBe('not allowed');
  });

  const under = (Condition: PolicyStatement['Condition'] & object) =>
    compilePolicy([{ ...all, Condition }])('sqs:SendMessage', ORDERS);

  test.each([
    { condition: { Bool: { 'aws:SecureTransport': ['x', 'true'] } }, decision: 'allowed' },
    // Names of keys are not case-sensitive, and CDK passes on booleans. Source: IAM user guide, "Condition".
    { condition: { Bool: { 'AWS:securetransport': true } }, decision: 'allowed' },
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
