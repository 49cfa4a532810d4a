import { describe, expect, test } from '@jest/globals';
import { permissionsOf, type Stack } from '../../../local/aws/permissions.ts';
import { parseRequest } from '../../../local/aws/request.ts';
import { signedFor } from './support.ts';

const SECRET_ARN = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:webhook-AbCdEf';
const stack: Stack = {
  region: 'eu-central-1',
  secretArn: (id) => (id === 'webhook' ? SECRET_ARN : undefined),
};
const SQS = 'arn:aws:sqs:eu-central-1:000000000000';
const TABLE = 'arn:aws:dynamodb:eu-central-1:000000000000:table';
const TOPIC = 'arn:aws:sns:eu-central-1:000000000000:chat';
const QueueUrl = 'http://localhost:4566/000000000000/orders';

const TARGETS: Record<string, string> = {
  sqs: 'AmazonSQS',
  dynamodb: 'DynamoDB_20120810',
  secretsmanager: 'secretsmanager',
};

function parseJson(service: string, operation: string, parameters: object) {
  const headers = { authorization: signedFor(service), 'x-amz-target': `${TARGETS[service]}.${operation}` };
  return parseRequest({ method: 'POST', url: '/', headers, body: Buffer.from(JSON.stringify(parameters)) });
}

function parseForm(service: string, form: Record<string, string>) {
  const body = Buffer.from(new URLSearchParams(form).toString());
  return parseRequest({ method: 'POST', url: '/', headers: { authorization: signedFor(service) }, body });
}

describe('a JSON request needs', () => {
  test.each<[string, string, object, string, string[]]>([
    ['sqs', 'SendMessage', { QueueUrl }, 'sqs:SendMessage', [`${SQS}:orders`]],
    ['sqs', 'SendMessageBatch', { QueueUrl }, 'sqs:SendMessage', [`${SQS}:orders`]],
    ['sqs', 'DeleteMessageBatch', { QueueUrl }, 'sqs:DeleteMessage', [`${SQS}:orders`]],
    ['sqs', 'ChangeMessageVisibilityBatch', { QueueUrl }, 'sqs:ChangeMessageVisibility', [`${SQS}:orders`]],
    ['sqs', 'GetQueueUrl', { QueueName: 'orders' }, 'sqs:GetQueueUrl', [`${SQS}:orders`]],
    [
      'sqs',
      'StartMessageMoveTask',
      { SourceArn: `${SQS}:dead` },
      'sqs:StartMessageMoveTask',
      [`${SQS}:dead`],
    ],
    ['sqs', 'ListQueues', {}, 'sqs:ListQueues', ['*']],
    ['dynamodb', 'GetItem', { TableName: 'cast' }, 'dynamodb:GetItem', [`${TABLE}/cast`]],
    ['dynamodb', 'GetItem', { TableName: `${TABLE}/cast` }, 'dynamodb:GetItem', [`${TABLE}/cast`]],
    [
      'dynamodb',
      'Query',
      { TableName: 'cast', IndexName: 'shop' },
      'dynamodb:Query',
      [`${TABLE}/cast/index/shop`],
    ],
    [
      'dynamodb',
      'BatchGetItem',
      { RequestItems: { a: {}, b: {} } },
      'dynamodb:BatchGetItem',
      [`${TABLE}/a`, `${TABLE}/b`],
    ],
    ['dynamodb', 'BatchWriteItem', { RequestItems: { a: [] } }, 'dynamodb:BatchWriteItem', [`${TABLE}/a`]],
    ['dynamodb', 'ListTables', {}, 'dynamodb:ListTables', ['*']],
    [
      'secretsmanager',
      'GetSecretValue',
      { SecretId: 'webhook' },
      'secretsmanager:GetSecretValue',
      [SECRET_ARN],
    ],
    [
      'secretsmanager',
      'GetSecretValue',
      { SecretId: SECRET_ARN },
      'secretsmanager:GetSecretValue',
      [SECRET_ARN],
    ],
    ['secretsmanager', 'ListSecrets', {}, 'secretsmanager:ListSecrets', ['*']],
  ])('of %s %s %j: %s', (service, operation, parameters, action, resources) => {
    const request = parseJson(service, operation, parameters);
    expect(request).toMatchObject({
      service,
      operation,
      parameters,
      protocol: 'json',
      accessKeyId: 'operator',
    });
    expect(permissionsOf(request, stack)).toEqual(resources.map((resource) => ({ action, resource })));
  });
});

describe('a form request needs', () => {
  test.each<[string, Record<string, string>, string, string]>([
    ['sns', { Action: 'Publish', TopicArn: TOPIC }, 'sns:Publish', TOPIC],
    ['sns', { Action: 'PublishBatch', TopicArn: TOPIC }, 'sns:Publish', TOPIC],
    ['sns', { Action: 'Unsubscribe', SubscriptionArn: `${TOPIC}:1-2-3` }, 'sns:Unsubscribe', TOPIC],
    ['sns', { Action: 'CreateTopic', Name: 'chat' }, 'sns:CreateTopic', TOPIC],
    ['sns', { Action: 'ListTopics' }, 'sns:ListTopics', '*'],
  ])('of %s %j: %s', (service, form, action, resource) => {
    const request = parseForm(service, form);
    expect(request).toMatchObject({ service, operation: form.Action, protocol: 'query' });
    expect(permissionsOf(request, stack)).toEqual([{ action, resource }]);
  });
});

describe('an S3 request', () => {
  const parseS3 = (method: string, url: string, headers: Record<string, string> = {}, body = '') =>
    parseRequest({
      method,
      url,
      headers: { authorization: signedFor('s3'), ...headers },
      body: Buffer.from(body),
    });

  test.each<[string, string, string, string, string]>([
    ['GET', '/', 'ListBuckets', 's3:ListAllMyBuckets', '*'],
    ['PUT', '/payloads', 'CreateBucket', 's3:CreateBucket', 'arn:aws:s3:::payloads'],
    ['GET', '/payloads/?list-type=2', 'ListObjects', 's3:ListBucket', 'arn:aws:s3:::payloads'],
    ['PUT', '/payloads/a/b%20c', 'PutObject', 's3:PutObject', 'arn:aws:s3:::payloads/a/b c'],
    ['GET', '/payloads/a', 'GetObject', 's3:GetObject', 'arn:aws:s3:::payloads/a'],
    ['HEAD', '/payloads/a', 'HeadObject', 's3:GetObject', 'arn:aws:s3:::payloads/a'],
    ['DELETE', '/payloads/a', 'DeleteObject', 's3:DeleteObject', 'arn:aws:s3:::payloads/a'],
    ['POST', '/payloads/a?uploads', 'CreateMultipartUpload', 's3:PutObject', 'arn:aws:s3:::payloads/a'],
    ['PUT', '/payloads/a?partNumber=1&uploadId=u', 'UploadPart', 's3:PutObject', 'arn:aws:s3:::payloads/a'],
    [
      'DELETE',
      '/payloads/a?uploadId=u',
      'AbortMultipartUpload',
      's3:AbortMultipartUpload',
      'arn:aws:s3:::payloads/a',
    ],
  ])('%s %s is %s', (method, url, operation, action, resource) => {
    const request = parseS3(method, url);
    expect(request).toMatchObject({ operation, protocol: 'rest-xml', http: { url } });
    expect(permissionsOf(request, stack)).toEqual([{ action, resource }]);
  });

  test.each([
    ['payloads.localhost:4566', '/a', '/payloads/a'],
    ['pay.loads.s3.localhost', '/a?x=1', '/pay.loads/a?x=1'],
    ['localhost:4566', '/payloads/a', '/payloads/a'],
    ['s3.localhost:4566', '/payloads/a', '/payloads/a'],
    ['127.0.0.1:4566', '/payloads/a', '/payloads/a'],
    ['host.docker.internal:4566', '/payloads/a', '/payloads/a'],
  ])('to the host %s for %s asks for %s', (host, url, expected) => {
    expect(parseS3('GET', url, { host }).http.url).toBe(expected);
  });

  test('that copies needs to read its source too', () => {
    const request = parseS3('PUT', '/b/to', { 'x-amz-copy-source': '/a/from%20x' });
    expect(permissionsOf(request, stack)).toEqual([
      { action: 's3:PutObject', resource: 'arn:aws:s3:::b/to' },
      { action: 's3:GetObject', resource: 'arn:aws:s3:::a/from x' },
    ]);
  });

  test('that deletes several objects needs to delete each one', () => {
    const body = '<Delete><Object><Key>a</Key></Object><Object><Key>b&amp;c</Key></Object></Delete>';
    expect(permissionsOf(parseS3('POST', '/bucket?delete', {}, body), stack)).toEqual([
      { action: 's3:DeleteObject', resource: 'arn:aws:s3:::bucket/a' },
      { action: 's3:DeleteObject', resource: 'arn:aws:s3:::bucket/b&c' },
    ]);
  });

  test('for a sub-resource that is not there is not taken for another operation', () => {
    expect(() => parseS3('PUT', '/bucket?policy')).toThrow(/\?policy is not supported/);
  });
});

describe('the caller', () => {
  const parsePath = (url: string) => parseRequest({ method: 'GET', url, headers: {}, body: Buffer.alloc(0) });

  test('of a presigned address is in its query string', () => {
    const request = parsePath(
      '/b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAX%2F20260101%2Feu-west-1%2Fs3%2Faws4_request',
    );
    expect(request).toMatchObject({ accessKeyId: 'AKIAX', service: 's3' });
  });

  test('of an address that `aws s3 presign` made is in its query string', () => {
    expect(parsePath('/b/k?AWSAccessKeyId=AKIAX&Signature=x&Expires=1')).toMatchObject({
      accessKeyId: 'AKIAX',
      service: 's3',
    });
  });

  test('is missed where nothing names it', () => {
    expect(() => parsePath('/b/k')).toThrow('Request is missing Authentication Token');
  });

  test('of a target of another service than the one signed for is refused', () => {
    expect(() => parseJson('sqs', 'SendMessage', {})).not.toThrow();
    const headers = { authorization: signedFor('dynamodb'), 'x-amz-target': 'AmazonSQS.SendMessage' };
    const request = { method: 'POST', url: '/', headers, body: Buffer.from('{}') };
    expect(() => parseRequest(request)).toThrow(/the signature is for dynamodb/);
  });
});
