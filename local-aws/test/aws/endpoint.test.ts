import { CloudFormationClient, ListStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudFrontClient, ListDistributionsCommand } from '@aws-sdk/client-cloudfront';
import { GetItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { PublishCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AwsEndpoint, startAwsEndpoint } from '../../aws/endpoint.ts';
import { isOwnHost } from '../../aws/http-server.ts';
import { arnOf } from '../../aws/services.ts';
import { clientsOf, send, settingsOf, signedFor, startEndpoint } from './support.ts';

const QUEUE_ARN = arnOf('sqs', 'orders');

let endpoint: AwsEndpoint;
let QueueUrl: string;
let role: ReturnType<typeof clientsOf>;
let operator: ReturnType<typeof clientsOf>;
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
  role = clientsOf(endpoint, 'AKIARECEIVER');
  operator = clientsOf(endpoint, 'anybody');
  QueueUrl = (await operator.sqs.send(new CreateQueueCommand({ QueueName: 'orders' }))).QueueUrl ?? '';
});
afterAll(() => endpoint.close());

describe('a role', () => {
  test('may do what its policies allow', async () => {
    const sent = await role.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello' }));
    expect(sent.MessageId).toBeDefined();
  });

  test.each([
    {
      action: 'sqs:ReceiveMessage',
      resource: QUEUE_ARN,
      status: 403,
      name: 'AccessDenied',
      call: () => role.sqs.send(new ReceiveMessageCommand({ QueueUrl })),
    },
    {
      action: 'sns:Publish',
      resource: arnOf('sns', 'chat'),
      status: 403,
      name: 'AuthorizationErrorException',
      call: () => role.sns.send(new PublishCommand({ TopicArn: arnOf('sns', 'chat'), Message: 'hi' })),
    },
    {
      action: 'dynamodb:GetItem',
      resource: arnOf('dynamodb', 'table/cast'),
      status: 400,
      name: 'AccessDeniedException',
      call: () => role.dynamodb.send(new GetItemCommand({ TableName: 'cast', Key: { id: { S: '1' } } })),
    },
    {
      action: 'secretsmanager:GetSecretValue',
      resource: arnOf('secretsmanager', 'secret:webhook'),
      status: 400,
      name: 'AccessDeniedException',
      call: () => role.secrets.send(new GetSecretValueCommand({ SecretId: 'webhook' })),
    },
  ])('is refused $action with the error of its service', async ({ action, resource, status, name, call }) => {
    await expect(call()).rejects.toMatchObject({
      name,
      $metadata: { httpStatusCode: status },
      message: `User: arn:aws:sts::000000000000:assumed-role/ReceiverRole/local is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`,
    });
  });

  test('is refused an S3 object with the error of S3', async () => {
    const headers = { authorization: signedFor('s3', 'AKIARECEIVER') };
    const { status, body } = await send(endpoint, { method: 'GET', path: '/payloads/key', headers });
    expect(status).toBe(403);
    expect(body.toString()).toContain('<Code>AccessDenied</Code>');
    expect(body.toString()).toContain('arn:aws:s3:::payloads/key');
  });

  test('is refused what one statement denies, even if another allows it', async () => {
    const { sqs } = clientsOf(endpoint, 'AKIADENIED');
    const denied = sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }));
    await expect(denied).rejects.toThrow(/with an explicit deny/);
  });

  test('can ask who it is', async () => {
    const headers = { authorization: signedFor('sts', 'AKIARECEIVER') };
    const { body } = await send(endpoint, { headers, body: 'Action=GetCallerIdentity&Version=2011-06-15' });
    expect(body.toString()).toContain('assumed-role/ReceiverRole/local</Arn>');
  });
});

test('an operator may do everything, in the region of the stack from every region', async () => {
  expect((await operator.dynamodb.send(new ListTablesCommand({}))).TableNames).toEqual([]);
  const listed = await operator.sqs.send(new ListQueuesCommand({}));
  expect(listed.QueueUrls).toEqual([`${endpoint.url}/000000000000/orders`]);
});

describe('a request', () => {
  test('without authorization is refused because its token is missing', async () => {
    const json = await send(endpoint, { headers: { 'x-amz-target': 'AmazonSQS.ListQueues' }, body: '{}' });
    const form = await send(endpoint, { body: 'Action=ListTopics' });
    expect([json.status, form.status]).toEqual([403, 403]);
    expect(JSON.parse(json.body.toString()).__type).toBe('MissingAuthenticationToken');
    expect(form.body.toString()).toContain('<Code>MissingAuthenticationToken</Code>');
  });

  test('from curl --aws-sigv4, with a form content type, is read as AWS JSON', async () => {
    // Headers that curl 7.88 sends for: curl --user a:b --aws-sigv4 aws:amz:us-west-2:sqs -d '{}' -H 'X-Amz-Target: …'
    const headers = {
      Authorization:
        'AWS4-HMAC-SHA256 Credential=a/20261121/us-west-2/sqs/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=0f036de708918fee157fee2eadc0e41f6a0522a5219e6b4658270eba39e7df5b',
      'X-Amz-Target': 'AmazonSQS.ListQueues',
      'Content-Type': 'application/x-www-form-urlencoded',
    };
    const { status, body } = await send(endpoint, { headers, body: '{}' });
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toEqual({ QueueUrls: [QueueUrl] });
  });

  test('in CBOR is refused with the advice to use JSON', async () => {
    const { status, body } = await send(endpoint, {
      path: '/service/AmazonSQS/operation/ListQueues',
      headers: { authorization: signedFor('sqs'), 'smithy-protocol': 'rpc-v2-cbor' },
    });
    expect(status).toBe(400);
    expect(body.toString()).toContain('does not support CBOR');
  });

  test('whose body is not JSON is refused', async () => {
    const headers = { authorization: signedFor('sqs'), 'x-amz-target': 'AmazonSQS.SendMessage' };
    const { status, body } = await send(endpoint, { headers, body: '{"QueueUrl":' });
    expect(status).toBe(400);
    expect(body.toString()).toContain('SerializationException');
  });

  test('for /health needs no authorization, and its answer has a request id like every other', async () => {
    const { status, headers, body } = await send(endpoint, { method: 'GET', path: '/health' });
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: '{"status":"ok"}' });
    expect(headers['x-amzn-requestid']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('a service that the endpoint lacks is refused in the format that its client reads', () => {
  const refusal = (service: string) => ({
    name: 'UnsupportedService',
    message: `The local AWS endpoint does not offer ${service}, only sqs, sns, s3, dynamodb, secretsmanager, logs, firehose, monitoring, lambda, cloudformation, sts.`,
  });

  test('in XML, as an operation that it lacks', async () => {
    const cloudFront = new CloudFrontClient(settingsOf(endpoint));
    const cloudFormation = new CloudFormationClient(settingsOf(endpoint));
    await expect(cloudFront.send(new ListDistributionsCommand({}))).rejects.toMatchObject(
      refusal('cloudfront'),
    );
    await expect(cloudFormation.send(new ListStacksCommand({}))).rejects.toMatchObject({
      name: 'UnknownOperationException',
      message:
        "The local AWS endpoint does not offer CloudFormation's ListStacks, only DescribeStacks, ListStackResources, GetTemplate.",
    });
    for (const client of [cloudFront, cloudFormation]) client.destroy();
  });

  test('in JSON, with the error type in a header', async () => {
    const answer = await send(endpoint, {
      path: '/TraceSegments',
      headers: { authorization: signedFor('xray'), 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'x-amzn-errortype': 'UnsupportedService',
    });
    expect(JSON.parse(answer.body.toString())).toEqual({ message: refusal('xray').message });
  });

  test('in JSON, with the error type in the answer, if it has a target', async () => {
    const headers = { authorization: signedFor('kinesis'), 'x-amz-target': 'Kinesis_20131202.ListStreams' };
    const { body } = await send(endpoint, { headers, body: '{}' });
    expect(JSON.parse(body.toString())).toMatchObject({ __type: 'UnsupportedService' });
  });
});

describe('the host of a request', () => {
  test.each([
    'LOCALHOST:4566',
    '127.0.0.1:4566',
    '[::1]:4566',
    'bucket.s3.localhost',
    'host.docker.internal:4566',
  ])('%s is this machine', (host) => {
    expect(isOwnHost(host)).toBe(true);
  });

  test.each([
    undefined,
    '',
    'evil.example:4566',
    'localhost.evil.example',
    'evillocalhost',
    '127.0.0.1.nip.io',
  ])('%s may be another machine', (host) => {
    expect(isOwnHost(host)).toBe(false);
  });

  test.each(['/', '/health'])(
    'a page whose name points to this machine gets no answer from %s',
    async (path) => {
      const headers = { host: 'evil.example:4566', 'x-amz-target': 'secretsmanager.ListSecrets' };
      const { status, body } = await send(endpoint, { path, headers, body: '{}' });
      expect(status).toBe(421);
      expect(body.toString()).toMatch(/^The AWS endpoint only answers the hosts .+\n$/);
    },
  );
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

describe('the port', () => {
  test('is free soon after close, even if a long poll and idle connections were open', async () => {
    const other = await startEndpoint();
    const { sqs } = clientsOf(other);
    const polled = await sqs.send(new CreateQueueCommand({ QueueName: 'polled' }));
    const poll = new ReceiveMessageCommand({ QueueUrl: polled.QueueUrl, WaitTimeSeconds: 20 });
    const polls = [sqs.send(poll), sqs.send(poll)];
    // When it returns, its connection is idle, and the polls that were sent before it have arrived.
    await sqs.send(new ListQueuesCommand({}));
    const start = Date.now();
    await other.close();
    expect(Date.now() - start).toBeLessThan(10_000);
    for (const { Messages } of await Promise.all(polls)) expect(Messages).toBeUndefined();
    const again = await startAwsEndpoint({ port: Number(new URL(other.url).port) });
    await again.close();
  });
});
