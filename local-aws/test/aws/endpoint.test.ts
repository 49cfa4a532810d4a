import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAwsEndpoint } from '../../aws/endpoint.ts';
import { arnOf } from '../../aws/service-forms.ts';
import { awsCaller } from '../../aws-caller.ts';
import { type RawRequest, send, signedFor, startEndpoint } from '../support.ts';

const QUEUE_ARN = arnOf('sqs', 'orders');

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let QueueUrl: string;
beforeAll(async () => {
  endpoint = await startEndpoint();
  endpoint.addPrincipals([
    {
      name: 'ReceiverRole',
      accessKeyId: 'AKIARECEIVER',
      statements: [{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: QUEUE_ARN }],
    },
    {
      name: 'DeniedRole',
      accessKeyId: 'AKIADENIED',
      statements: [
        { Effect: 'Allow', Action: '*', Resource: '*' },
        { Effect: 'Deny', Action: 'sqs:SendMessage', Resource: QUEUE_ARN },
      ],
    },
  ]);
  const operator = awsCaller(endpoint.url, 'anybody');
  QueueUrl = String((await operator.json('sqs', 'CreateQueue', { QueueName: 'orders' })).QueueUrl);
});
afterAll(() => endpoint.close());

async function answerTo(request: RawRequest) {
  const { status, headers, body } = await send(endpoint, request);
  return { status, headers, text: body.toString() };
}

/** A request in the JSON protocol. @param call target and operation */
const json = (service: string, call: string, input: object, accessKeyId = 'AKIARECEIVER'): RawRequest => ({
  headers: { authorization: signedFor(service, accessKeyId), 'x-amz-target': call },
  body: JSON.stringify(input),
});

describe('a role', () => {
  const message = { QueueUrl: 'http://localhost/000000000000/orders', MessageBody: 'hello' };

  test('may do what its policies allow', async () => {
    expect(await answerTo(json('sqs', 'AmazonSQS.SendMessage', message))).toMatchObject({ status: 200 });
  });

  const TopicArn = arnOf('sns', 'chat');
  const signed = (service: string) => ({ headers: { authorization: signedFor(service, 'AKIARECEIVER') } });
  const receive = json('sqs', 'AmazonSQS.ReceiveMessage', { QueueUrl: message.QueueUrl });
  const publish = { ...signed('sns'), body: `Action=Publish&TopicArn=${TopicArn}&Message=hi` };
  const item = json('dynamodb', 'DynamoDB_20120810.GetItem', { TableName: 'cast', Key: { id: { S: '1' } } });
  const secret = json('secretsmanager', 'secretsmanager.GetSecretValue', { SecretId: 'webhook' });
  const object = { ...signed('s3'), method: 'GET', path: '/payloads/key' };
  const SECRET_ARN = arnOf('secretsmanager', 'secret:webhook');
  test.each<[action: string, resource: string, status: number, code: string, request: RawRequest]>([
    ['sqs:ReceiveMessage', QUEUE_ARN, 403, 'AccessDeniedException', receive],
    ['sns:Publish', TopicArn, 403, 'AuthorizationError', publish],
    ['dynamodb:GetItem', arnOf('dynamodb', 'table/cast'), 400, 'AccessDeniedException', item],
    ['secretsmanager:GetSecretValue', SECRET_ARN, 400, 'AccessDeniedException', secret],
    ['s3:GetObject', 'arn:aws:s3:::payloads/key', 403, 'AccessDenied', object],
  ])('is refused %s on %s with %d %s', async (action, resource, status, code, request) => {
    const answer = await answerTo(request);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(code);
    expect(answer.text).toContain(
      `User: arn:aws:sts::000000000000:assumed-role/ReceiverRole/local is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`,
    );
  });

  test('is refused what one statement denies, even if another allows it', async () => {
    const { text } = await answerTo(json('sqs', 'AmazonSQS.SendMessage', message, 'AKIADENIED'));
    expect(text).toContain('with an explicit deny');
  });

  test('can ask who it is', async () => {
    const headers = { authorization: signedFor('sts', 'AKIARECEIVER') };
    const { text } = await answerTo({ headers, body: 'Action=GetCallerIdentity&Version=2011-06-15' });
    expect(text).toContain('assumed-role/ReceiverRole/local</Arn>');
  });
});

test('an operator may do everything, in the region of the stack from every region', async () => {
  const { headers, text } = await answerTo(json('sqs', 'AmazonSQS.ListQueues', {}, 'anybody'));
  expect(JSON.parse(text)).toEqual({ QueueUrls: [QueueUrl] });
  expect(headers['x-amzn-requestid']).toMatch(/^[0-9a-f-]{36}$/);
});

const cbor = {
  path: '/service/AmazonSQS/operation/ListQueues',
  headers: { authorization: signedFor('sqs'), 'smithy-protocol': 'rpc-v2-cbor' },
};
const form = { headers: { authorization: signedFor('monitoring') }, body: 'Action=DescribeAlarms' };
const ADVICE = 'query protocol of CloudWatch: update the AWS SDK or CLI, or send AWS JSON';
const unsigned = { headers: { 'x-amz-target': 'AmazonSQS.ListQueues' }, body: '{}' };
const unclosed = { ...json('sqs', 'AmazonSQS.SendMessage', {}), body: '{"QueueUrl":' };
const unoffered = json('sqs', 'AmazonSQS.AddPermission', {}, 'operator');
test.each<[what: string, request: RawRequest, status: number, text: string]>([
  ['without authorization', unsigned, 403, '"__type":"MissingAuthenticationToken"'],
  ['without it, as a form', { body: 'Action=ListTopics' }, 403, '<Code>MissingAuthenticationToken</Code>'],
  ['in the old query protocol', form, 400, ADVICE],
  ['in CBOR', cbor, 400, 'does not support CBOR'],
  ['whose body is not JSON', unclosed, 400, 'SerializationException'],
  ['for an operation that is not offered', unoffered, 400, "SQS's AddPermission, only ChangeMessageVis"],
])('a request %s is refused', async (_what, request, status, text) => {
  expect(await answerTo(request)).toMatchObject({ status, text: expect.stringContaining(text) });
});

const SERVICES =
  'sqs, sns, s3, dynamodb, secretsmanager, logs, firehose, monitoring, lambda, cloudformation, sts';
const refusal = (service: string) => `The local AWS endpoint does not offer ${service}, only ${SERVICES}.`;

const XML = (message: string) => `<Message>${message}</Message>`;
const kinesis = { headers: { 'x-amz-target': 'Kinesis_20131202.ListStreams' }, body: '{}' };
// Some SDKs send the action after the parameters.
const roles = {
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: 'Path=%2F&Action=ListRoles',
};
const stacks =
  'The local AWS endpoint does not offer CloudFormation&apos;s ListStacks, only DescribeStacks, ListStackResources, GetTemplate.';
test.each<[service: string, type: string, text: string, request: RawRequest]>([
  ['cloudfront', 'text/xml', XML(refusal('cloudfront')), { method: 'GET', path: '/2020-05-31/distribution' }],
  ['xray', 'application/json', refusal('xray'), { path: '/TraceSegments', body: '{}' }],
  ['kinesis', 'application/x-amz-json-1.0', '"__type":"UnsupportedService"', kinesis],
  ['iam', 'text/xml', XML(refusal('iam')), roles],
  ['cloudformation', 'text/xml', XML(stacks), { body: 'Action=ListStacks' }],
])(
  'a service that the endpoint lacks is refused in the format that its client reads: %s in %s',
  async (service, type, text, request) => {
    const headers = { ...request.headers, authorization: signedFor(service) };
    const answer = await answerTo({ ...request, headers });
    expect(answer.headers).toMatchObject({ 'content-type': type });
    expect(answer.text).toContain(text);
  },
);

test('a page whose name points to this machine gets no answer', async () => {
  const headers = { host: 'evil.example:4566', 'x-amz-target': 'secretsmanager.ListSecrets' };
  const { status, body } = await send(endpoint, { headers, body: '{}' });
  expect(status).toBe(421);
  expect(body.toString()).toMatch(/^The AWS endpoint only answers the hosts .+\n$/);
});

test.each([
  { origin: 'https://evil.example', status: 403 },
  { origin: 'null', status: 403 },
  { origin: 'http://localhost:3001', status: 200 },
])('a form that a page of $origin posts is answered $status', async ({ origin, status }) => {
  const headers = {
    origin,
    authorization: signedFor('sns'),
    'content-type': 'application/x-www-form-urlencoded',
  };
  expect(await send(endpoint, { headers, body: 'Action=ListTopics' })).toMatchObject({ status });
});

test('the port is free soon after close, even if a long poll and idle connections were open', async () => {
  const other = await startEndpoint();
  const { json: call } = awsCaller(other.url, 'operator');
  const { QueueUrl: polled } = await call('sqs', 'CreateQueue', { QueueName: 'polled' });
  const poll = () => call('sqs', 'ReceiveMessage', { QueueUrl: polled, WaitTimeSeconds: 20 });
  const polls = [poll(), poll()];
  // When it returns, its connection is idle, and usually the polls that were sent before it have arrived.
  await call('sqs', 'ListQueues', {});
  await other.close();
  await Promise.allSettled(polls);
  const again = await startAwsEndpoint({ port: Number(new URL(other.url).port) });
  await again.close();
});
