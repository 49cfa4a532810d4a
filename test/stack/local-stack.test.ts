import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Exchange, ItemChange, LocalStack } from 'local-aws';
import { eventNames } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { startTestStack } from '../support/test-stack.ts';

let stack: LocalStack;
const observed = { exchanges: [] as Exchange[], changes: [] as ItemChange[] };

beforeAll(async () => {
  stack = await startTestStack({
    warmUp: true,
    observer: {
      onExchange: (exchange) => observed.exchanges.push(exchange),
      onItemChange: (change) => observed.changes.push(change),
      onNotification: () => {},
    },
  });
});

afterAll(() => stack.close());

/** The definition of a function of the running stack. */
function definitionOf(service: string) {
  const found = stack.functions.get(service);
  if (found === undefined) throw new Error(`The stack has no function ${service}`);
  return found.definition;
}

/** AWS clients with the access key of a function or, by default, of an operator. */
function clientsOf(service?: string) {
  const settings = {
    ...stack.operator,
    ...(service !== undefined && { credentials: definitionOf(service).credentials }),
    maxAttempts: 1,
  };
  return {
    sqs: new SQSClient(settings),
    sns: new SNSClient(settings),
    dynamodb: new DynamoDBClient(settings),
    secrets: new SecretsManagerClient(settings),
    s3: new S3Client({ ...settings, forcePathStyle: true }),
  };
}

type Clients = ReturnType<typeof clientsOf>;

const readSecret = ({ secrets }: Clients) =>
  secrets.send(new GetSecretValueCommand({ SecretId: stack.outputs.WebhookSecretArn }));
const putGirl = ({ dynamodb }: Clients, girlId: string) =>
  dynamodb.send(new PutItemCommand({ TableName: stack.outputs.CastTable, Item: { girl_id: { S: girlId } } }));
const putCast = (clients: Clients) => putGirl(clients, 'girl-of-a-test');
const getShop = ({ dynamodb }: Clients) =>
  dynamodb.send(
    new GetItemCommand({ TableName: stack.outputs.ShopCacheTable, Key: { shop_id: { S: 'shop-1' } } }),
  );
const scan = (table: string) => (clients: Clients) =>
  clients.dynamodb.send(new ScanCommand({ TableName: stack.outputs[table] }));
const send = (queue: string) => (clients: Clients) =>
  clients.sqs.send(new SendMessageCommand({ QueueUrl: stack.outputs[queue], MessageBody: 'of a test' }));
const receive = (queue: string) => (clients: Clients) =>
  clients.sqs.send(new ReceiveMessageCommand({ QueueUrl: stack.outputs[queue] }));
const publish = (topic: string) => (clients: Clients) =>
  clients.sns.send(new PublishCommand({ TopicArn: stack.outputs[topic], Message: 'of a test' }));

const payloadOf = (event: string) => ({
  Bucket: definitionOf('receiver').environment.PAYLOAD_BUCKET,
  Key: `${event}/of-a-test`,
});
const putPayload = (event: string) => (clients: Clients) =>
  clients.s3.send(new PutObjectCommand({ ...payloadOf(event), Body: 'of a test' }));
const getPayload = (event: string) => (clients: Clients) =>
  clients.s3.send(new GetObjectCommand(payloadOf(event)));

describe('a function', () => {
  test.each([
    { service: 'receiver', to: 'read the secret', act: readSecret },
    { service: 'receiver', to: 'send to the unrouted queue', act: send('UnroutedQueueUrl') },
    { service: 'receiver', to: 'store a large payload', act: putPayload('shop.updated') },
    { service: 'girl-created', to: 'write to the cast table', act: putCast },
    {
      service: 'girl-created',
      to: 'send to its dead-letter queue',
      act: send('GirlCreatedDeadLetterQueueUrl'),
    },
    { service: 'review-posted', to: 'publish to the review topic', act: publish('ReviewTopicArn') },
  ])('$service may do what its role allows: $to', async ({ service, act }) => {
    await expect(act(clientsOf(service))).resolves.toMatchObject({ $metadata: { httpStatusCode: 200 } });
  });

  const consumerRefusals = [
    { to: 'read the secret', act: readSecret },
    { to: 'write to the cast table', act: putCast },
    { to: 'read its own table', act: getShop },
    { to: 'send to its own queue', act: send('ShopUpdatedQueueUrl') },
    { to: 'send to the unrouted queue', act: send('UnroutedQueueUrl') },
    {
      to: 'send to the dead-letter queue of another event',
      act: send('UserUpdatedDeadLetterQueueUrl'),
    },
    { to: 'receive from the queue of another event', act: receive('UserUpdatedQueueUrl') },
    { to: 'read the payload of another event', act: getPayload('user.updated') },
    { to: 'store a payload', act: putPayload('shop.updated') },
    { to: 'publish to the chat topic', act: publish('ChatTopicArn') },
  ];
  const receiverRefusals = [
    { to: 'receive from a queue that it sends to', act: receive('ShopUpdatedQueueUrl') },
    { to: 'read a payload', act: getPayload('shop.updated') },
    { to: 'send to a dead-letter queue', act: send('ShopUpdatedDeadLetterQueueUrl') },
    { to: 'read the shop cache table', act: scan('ShopCacheTable') },
    { to: 'read the cast table', act: scan('CastTable') },
    { to: 'read the contact_partner table', act: scan('ContactPartnerTable') },
  ];

  test.each([
    ...consumerRefusals.map((refusal) => ({ ...refusal, service: 'shop-updated' })),
    { service: 'girl-created', to: 'receive from girl.deleted', act: receive('GirlDeletedQueueUrl') },
    { service: 'review-posted', to: 'publish to the chat topic', act: publish('ChatTopicArn') },
    ...receiverRefusals.map((refusal) => ({ ...refusal, service: 'receiver' })),
  ])('$service may not do what its role does not allow: $to', async ({ service, act }) => {
    await expect(act(clientsOf(service))).rejects.toMatchObject({
      name: expect.stringMatching(/^(AccessDenied(Exception)?|AuthorizationErrorException)$/),
    });
  });

  test('has its name on the command line, and its own access key and environment', () => {
    const functions = [...stack.functions.values()];
    expect([...stack.functions.keys()].sort()).toEqual(
      ['receiver', 'smoke-test', ...eventNames.map(kebabCase)].sort(),
    );
    const keys = functions.map(({ definition }) => definition.credentials.accessKeyId);
    expect(new Set(keys).size).toBe(functions.length);
    const { environment } = definitionOf('shop-updated');
    expect(environment.SHOP_CACHE_TABLE).toBe(stack.outputs.ShopCacheTable);
    for (const foreign of ['WEBHOOK_SECRET_ARN', 'CAST_TABLE', 'REVIEW_TOPIC_ARN']) {
      expect(environment).not.toHaveProperty(foreign);
    }
    expect(process.env).not.toHaveProperty('SHOP_CACHE_TABLE');
  });
});

describe('a receiver that is killed', () => {
  const review = { event: 'review.posted', data: { review_id: 'r1' }, timestamp: '2026-01-31T09:00:00Z' };
  const post = () => new Partner(stack.outputs.WebhookUrl).post(review);
  const receiver = () => stack.functions.get('receiver')?.function;

  test('while it is idle answers the next delivery as usual', async () => {
    await receiver()?.kill();
    expect(receiver()?.environments).toBe(0);
    expect((await post()).status).toBe(200);
  });

  test('in the middle of a delivery answers it with 500, and the next one as usual', async () => {
    stack.faults.inject({ service: 'sqs', operation: 'SendMessage', kind: 'slow', milliseconds: 1_000 });
    const killed = receiver()?.killDuringNext(200);
    expect((await post()).status).toBe(500);
    expect(await killed).toBe(true);
    stack.faults.clear();
    expect((await post()).status).toBe(200);
  });
});

describe('an observer', () => {
  test('gets a delivery and the item that it changed, but no changes by an operator', async () => {
    const shop = { shop_id: 'shop-observed' };
    await putGirl(clientsOf(), 'girl-of-an-operator');
    const delivery = { event: 'shop.updated', data: shop, timestamp: '2026-01-31T09:00:00Z' };
    await new Partner(stack.outputs.WebhookUrl).post(delivery);
    expect(observed.exchanges.at(-1)).toMatchObject({
      path: new URL(stack.outputs.WebhookUrl ?? '').pathname,
      body: Buffer.from(JSON.stringify(delivery)),
      status: 200,
    });
    const change = await eventually(async () =>
      observed.changes.find(({ key }) => key.shop_id?.S === 'shop-observed'),
    );
    expect(change).toMatchObject({
      table: stack.outputs.ShopCacheTable,
      before: undefined,
      after: { shop_id: { S: 'shop-observed' } },
    });
    expect(observed.changes.filter(({ key }) => key.girl_id?.S === 'girl-of-an-operator')).toEqual([]);
  });
});

describe('the resources that a stack uses', () => {
  /** Number of execution environments that exist, busy or idle. */
  const environments = () =>
    [...stack.functions.values()].reduce((sum, item) => sum + item.function.environments, 0);

  test('are bounded: a burst starts few environments after the first of each function', async () => {
    const before = environments();
    const partner = new Partner(stack.outputs.WebhookUrl);
    const delivery = (index: number) => ({
      event: eventNames[index % eventNames.length],
      data: { shop_id: `shop-${index}`, girl_id: `girl-${index}`, user_id: `user-${index}` },
      timestamp: '2026-01-31T09:00:00Z',
    });
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, index) => partner.post(delivery(index))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(environments() - before).toBeLessThanOrEqual(1);
  });
});

test('a port in use leaves nothing of the stack running', async () => {
  const listening = async () => {
    const server = createServer();
    await once(server.listen({ port: 0, host: '127.0.0.1' }), 'listening');
    return { server, port: (server.address() as AddressInfo).port };
  };
  const taken = await listening();
  const spare = await listening();
  await once(spare.server.close(), 'close');
  const starting = startTestStack({ port: taken.port, awsPort: spare.port });
  await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE', port: taken.port });
  await expect(fetch(`http://localhost:${spare.port}`)).rejects.toThrow('fetch failed');
  await once(taken.server.close(), 'close');
});
