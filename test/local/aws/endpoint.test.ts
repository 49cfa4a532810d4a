import { GetItemCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { PublishCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AwsEndpoint, startAwsEndpoint } from '../../../local/aws/endpoint.ts';
import { clientsOf, STACK_REGION, send, signedFor, startEndpoint } from './support.ts';

const QUEUE_ARN = `arn:aws:sqs:${STACK_REGION}:000000000000:orders`;

let endpoint: AwsEndpoint;
let queueUrl: string;
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
  const { sqs } = clientsOf(endpoint);
  queueUrl = (await sqs.send(new CreateQueueCommand({ QueueName: 'orders' }))).QueueUrl ?? '';
});
afterAll(() => endpoint.close());

describe('a role', () => {
  test('may do what its policies allow', async () => {
    const { sqs } = clientsOf(endpoint, 'AKIARECEIVER');
    const sent = await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'hello' }));
    expect(sent.MessageId).toBeDefined();
  });

  test('may send a batch where it may send a message', async () => {
    const { sqs } = clientsOf(endpoint, 'AKIARECEIVER');
    const Entries = [{ Id: 'a', MessageBody: 'hello' }];
    const sent = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    expect(sent.Successful).toHaveLength(1);
  });

  const role = () => clientsOf(endpoint, 'AKIARECEIVER');
  const caller =
    'User: arn:aws:sts::000000000000:assumed-role/ReceiverRole/local is not authorized to perform:';
  const refusals: {
    action: string;
    resource: string;
    status: number;
    name: string;
    call: () => Promise<unknown>;
  }[] = [
    {
      action: 'sqs:ReceiveMessage',
      resource: QUEUE_ARN,
      status: 403,
      name: 'AccessDenied',
      call: () => role().sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl })),
    },
    {
      action: 'sns:Publish',
      resource: 'arn:aws:sns:eu-central-1:000000000000:chat',
      status: 403,
      name: 'AuthorizationErrorException',
      call: () =>
        role().sns.send(
          new PublishCommand({ TopicArn: 'arn:aws:sns:eu-central-1:000000000000:chat', Message: 'hi' }),
        ),
    },
    {
      action: 'dynamodb:GetItem',
      resource: 'arn:aws:dynamodb:eu-central-1:000000000000:table/cast',
      status: 400,
      name: 'AccessDeniedException',
      call: () => role().dynamodb.send(new GetItemCommand({ TableName: 'cast', Key: { id: { S: '1' } } })),
    },
    {
      action: 'secretsmanager:GetSecretValue',
      resource: 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:webhook',
      status: 400,
      name: 'AccessDeniedException',
      call: () => role().secrets.send(new GetSecretValueCommand({ SecretId: 'webhook' })),
    },
  ];
  test.each(refusals)(
    'is refused $action in the form of its service',
    async ({ action, resource, status, name, call }) => {
      await expect(call()).rejects.toMatchObject({
        name,
        $metadata: { httpStatusCode: status },
        message: `${caller} ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`,
      });
    },
  );

  test('is refused an S3 object in the form of S3', async () => {
    const headers = { authorization: signedFor('s3', 'AKIARECEIVER') };
    const { status, body } = await send(endpoint, { method: 'GET', path: '/payloads/key', headers });
    expect(status).toBe(403);
    expect(body.toString()).toContain('<Code>AccessDenied</Code>');
    expect(body.toString()).toContain('arn:aws:s3:::payloads/key');
  });

  test('is refused what one statement denies, whatever another allows', async () => {
    const { sqs } = clientsOf(endpoint, 'AKIADENIED');
    await expect(sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'x' }))).rejects.toThrow(
      /with an explicit deny/,
    );
  });

  test('is told who it is', async () => {
    const headers = { authorization: signedFor('sts', 'AKIARECEIVER') };
    const { body } = await send(endpoint, { headers, body: 'Action=GetCallerIdentity&Version=2011-06-15' });
    expect(body.toString()).toContain('assumed-role/ReceiverRole/local</Arn>');
  });

  test('with a condition operator that is not supported is refused on registration', () => {
    const Condition = { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } };
    const statements = [{ Effect: 'Allow' as const, Action: '*', Resource: '*', Condition }];
    expect(() => endpoint.addPrincipals([{ name: 'R', accessKeyId: 'AKIAR', statements }])).toThrow(
      /IpAddress/,
    );
  });
});

describe('an operator', () => {
  test('may do everything, with any access key', async () => {
    const { dynamodb } = clientsOf(endpoint, 'whoever');
    expect((await dynamodb.send(new ListTablesCommand({}))).TableNames).toEqual([]);
  });

  test('sees the same queues from every region', async () => {
    const { sqs } = clientsOf(endpoint);
    const listed = await sqs.send(new ListQueuesCommand({}));
    expect(listed.QueueUrls).toEqual([`${endpoint.url}/000000000000/orders`]);
  });
});

describe('a request', () => {
  test('without authorization is refused for its missing token', async () => {
    const json = await send(endpoint, { headers: { 'x-amz-target': 'AmazonSQS.ListQueues' }, body: '{}' });
    const form = await send(endpoint, { body: 'Action=ListTopics' });
    expect([json.status, form.status]).toEqual([403, 403]);
    expect(JSON.parse(json.body.toString()).__type).toBe('MissingAuthenticationToken');
    expect(form.body.toString()).toContain('<Code>MissingAuthenticationToken</Code>');
  });

  test('as curl --aws-sigv4 sends it, with a form content type, is read as AWS JSON', async () => {
    // The header lines of curl 7.88 for: curl --user a:b --aws-sigv4 aws:amz:us-west-2:sqs -d '{}' -H 'X-Amz-Target: …'
    const headers = {
      Authorization:
        'AWS4-HMAC-SHA256 Credential=a/20261121/us-west-2/sqs/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=0f036de708918fee157fee2eadc0e41f6a0522a5219e6b4658270eba39e7df5b',
      'X-Amz-Date': '20261121T023105Z',
      'User-Agent': 'curl/7.88.1',
      Accept: '*/*',
      'X-Amz-Target': 'AmazonSQS.ListQueues',
      'Content-Length': '2',
      'Content-Type': 'application/x-www-form-urlencoded',
    };
    const { status, body } = await send(endpoint, { headers, body: '{}' });
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toEqual({ QueueUrls: [queueUrl] });
  });

  test('in CBOR is told to use JSON', async () => {
    const headers = { authorization: signedFor('sqs'), 'smithy-protocol': 'rpc-v2-cbor' };
    const { status, body } = await send(endpoint, {
      path: '/service/AmazonSQS/operation/ListQueues',
      headers,
    });
    expect(status).toBe(400);
    expect(body.toString()).toContain('does not speak CBOR');
  });

  test('whose body is not JSON is refused', async () => {
    const headers = { authorization: signedFor('sqs'), 'x-amz-target': 'AmazonSQS.SendMessage' };
    const { status, body } = await send(endpoint, { headers, body: '{"QueueUrl":' });
    expect(status).toBe(400);
    expect(body.toString()).toContain('SerializationException');
  });

  test('for the health needs no authorization', async () => {
    const { status, body } = await send(endpoint, { method: 'GET', path: '/health' });
    expect([status, body.toString()]).toEqual([200, '{"status":"ok"}']);
  });

  test('gets a request id with every answer', async () => {
    const { headers } = await send(endpoint, {
      headers: { authorization: signedFor('sqs') },
      body: 'Action=ListQueues',
    });
    expect(headers['x-amzn-requestid']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the port', () => {
  test('in use fails the start with EADDRINUSE', async () => {
    const port = Number(new URL(endpoint.url).port);
    const second = startAwsEndpoint({ port, region: STACK_REGION });
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('is free again promptly after close, with a long poll and idle connections open', async () => {
    const other = await startEndpoint();
    const { sqs } = clientsOf(other);
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'polled' }));
    const polls = [1, 2].map(() => sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 })));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const start = Date.now();
    await other.close();
    expect(Date.now() - start).toBeLessThan(10_000);
    for (const { Messages } of await Promise.all(polls)) expect(Messages).toBeUndefined();
    const again = await startAwsEndpoint({
      port: Number(new URL(other.url).port),
      region: STACK_REGION,
    });
    await again.close();
  });
});
