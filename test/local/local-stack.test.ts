import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import {
  GetBucketLifecycleConfigurationCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { catalogue, eventNames } from '../../lambda/events/catalogue.ts';
import type { EffectName } from '../../lambda/events/definition.ts';
import { kebabCase, pascalCase, queueUrlVariable } from '../../lambda/events/event-names.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import { type Exchange, guardedObserver, type ItemChange } from '../../local/observation.ts';
import { eventually } from '../support/eventually.ts';
import { Partner } from '../support/partner.ts';
import { Queues } from '../support/queues.ts';
import { Tables } from '../support/tables.ts';
import { startTestStack, TEST_SECRET } from '../support/test-stack.ts';

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
    consoleUrl: () => 'http://localhost:3001/',
  });
});

afterAll(() => stack.close());

/** What a function is, as the stack runs it. */
function definitionOf(service: string) {
  const found = stack.functions.get(service);
  if (found === undefined) throw new Error(`The stack has no function ${service}`);
  return found.definition;
}

/** AWS clients with the access key of a function; the operator's for none. */
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
const putCast = ({ dynamodb }: Clients) =>
  dynamodb.send(
    new PutItemCommand({ TableName: stack.outputs.CastTable, Item: { girl_id: { S: 'girl-of-a-test' } } }),
  );
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

test('the bucket has the lifecycle that the template gives it', async () => {
  const { Rules } = await clientsOf().s3.send(
    new GetBucketLifecycleConfigurationCommand({ Bucket: stack.outputs.PayloadBucket }),
  );
  expect(Rules).toMatchObject([
    {
      Status: 'Enabled',
      Expiration: { Days: 90 },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
    },
  ]);
});

describe('a function may do what its role allows', () => {
  test.each([
    ['receiver', 'read the secret', readSecret],
    ['receiver', 'send to the unrouted queue', send('UnroutedQueueUrl')],
    ['receiver', 'store a large payload', putPayload('shop.updated')],
    ['girl-created', 'write to the cast table', putCast],
    ['girl-created', 'send to its dead-letter queue', send('GirlCreatedDeadLetterQueueUrl')],
    ['review-posted', 'publish to the review topic', publish('ReviewTopicArn')],
  ])('%s: to %s', async (service, _what, act) => {
    await expect(act(clientsOf(service))).resolves.toMatchObject({ $metadata: { httpStatusCode: 200 } });
  });
});

describe('a function is refused what its role does not allow', () => {
  const accessDenied = 'AccessDeniedException';
  test.each([
    ['shop-updated', 'read the secret', accessDenied, readSecret],
    ['shop-updated', 'write to the cast table', accessDenied, putCast],
    ['shop-updated', 'read its own table', accessDenied, getShop],
    ['shop-updated', 'send to its own queue', 'AccessDenied', send('ShopUpdatedQueueUrl')],
    [
      'shop-updated',
      'send to the dead-letter queue of another event',
      'AccessDenied',
      send('UserUpdatedDeadLetterQueueUrl'),
    ],
    ['shop-updated', 'read the payload of another event', 'AccessDenied', getPayload('user.updated')],
    ['shop-updated', 'store a payload', 'AccessDenied', putPayload('shop.updated')],
    ['shop-updated', 'send to the unrouted queue', 'AccessDenied', send('UnroutedQueueUrl')],
    [
      'shop-updated',
      'receive from the queue of another event',
      'AccessDenied',
      receive('UserUpdatedQueueUrl'),
    ],
    ['shop-updated', 'publish to the chat topic', 'AuthorizationErrorException', publish('ChatTopicArn')],
    ['review-posted', 'publish to the chat topic', 'AuthorizationErrorException', publish('ChatTopicArn')],
    [
      'girl-created',
      'receive from the queue of girl.deleted',
      'AccessDenied',
      receive('GirlDeletedQueueUrl'),
    ],
    ['receiver', 'receive from a queue that it sends to', 'AccessDenied', receive('ShopUpdatedQueueUrl')],
    ['receiver', 'read a payload', 'AccessDenied', getPayload('shop.updated')],
    ['receiver', 'send to a dead-letter queue', 'AccessDenied', send('ShopUpdatedDeadLetterQueueUrl')],
    ['receiver', 'read the shop cache table', accessDenied, scan('ShopCacheTable')],
    ['receiver', 'read the cast table', accessDenied, scan('CastTable')],
    ['receiver', 'read the contact_partner table', accessDenied, scan('ContactPartnerTable')],
  ])('%s: to %s', async (service, _what, name, act) => {
    await expect(act(clientsOf(service))).rejects.toMatchObject({ name });
  });

  test.each([
    ['read the secret', readSecret],
    ['write to the cast table', putCast],
    ['read the shop cache table', scan('ShopCacheTable')],
    ['send to a dead-letter queue', send('ShopUpdatedDeadLetterQueueUrl')],
    ['publish to the chat topic', publish('ChatTopicArn')],
  ])('an operator may do it: to %s', async (_what, act) => {
    await expect(act(clientsOf())).resolves.toMatchObject({ $metadata: { httpStatusCode: 200 } });
  });
});

describe('a receiver that is killed', () => {
  const review = { event: 'review.posted', data: { review_id: 'r1' }, timestamp: '2026-01-31T09:00:00Z' };
  const post = () => new Partner(stack.outputs.WebhookUrl).post(review);
  const receiver = () => stack.functions.get('receiver')?.function;

  test('while it is idle answers the next delivery as ever', async () => {
    await receiver()?.kill();
    expect(receiver()?.environments).toBe(0);
    expect((await post()).status).toBe(200);
  });

  test('in the middle of a delivery answers it with 500, and the next one as ever', async () => {
    stack.faults.inject({ service: 'sqs', operation: 'SendMessage', kind: 'slow', milliseconds: 1_000 });
    const killed = receiver()?.killDuringNext(200);
    expect((await post()).status).toBe(500);
    expect(await killed).toBe(true);
    stack.faults.clear();
    expect((await post()).status).toBe(200);
  });
});

describe('an observer', () => {
  test('is told of a delivery, of the item that it has changed and of nothing that a test does', async () => {
    const operator = new Tables(stack.operator);
    const shop = { shop_id: 'shop-observed' };
    observed.changes.length = 0;
    await new DynamoDBClient(stack.operator).send(
      new PutItemCommand({
        TableName: stack.outputs.ShopCacheTable,
        Item: { shop_id: { S: 'shop-damage' } },
      }),
    );
    const delivery = { event: 'shop.updated', data: shop, timestamp: '2026-01-31T09:00:00Z' };
    await new Partner(stack.outputs.WebhookUrl).post(delivery);
    await eventually(() => operator.get(stack.outputs.ShopCacheTable, shop));
    expect(observed.exchanges.at(-1)).toMatchObject({
      path: new URL(stack.outputs.WebhookUrl ?? '').pathname,
      body: Buffer.from(JSON.stringify(delivery)),
      status: 200,
    });
    const change = await eventually(async () => observed.changes.at(0));
    expect(change).toMatchObject({
      table: stack.outputs.ShopCacheTable,
      key: { shop_id: { S: 'shop-observed' } },
      before: undefined,
      after: { shop_id: { S: 'shop-observed' } },
    });
  });
});

describe('a look into a queue', () => {
  test('shows what is on it', async () => {
    await clientsOf().sqs.send(
      new SendMessageCommand({ QueueUrl: stack.outputs.UserUpdatedDeadLetterQueueUrl, MessageBody: 'dead' }),
    );
    const messages = await stack.inspectQueue(stack.outputs.UserUpdatedDeadLetterQueueUrl ?? '');
    expect(messages).toMatchObject([{ body: 'dead', state: 'waiting', receives: 0 }]);
  });
});

describe('a browser that opens a port', () => {
  test.each([
    ['the webhook', () => stack.outputs.WebhookUrl],
    ['AWS', () => stack.awsUrl],
  ])('of %s is led to the console', async (_, url) => {
    const response = await fetch(new URL('/', url()), {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'http://localhost:3001/']);
  });
});

/** The variable that says where an effect is, and the output that does. */
const whereEffectIs: Record<EffectName, readonly [variable: string, output: string]> = {
  'shop-cache': ['SHOP_CACHE_TABLE', 'ShopCacheTable'],
  cast: ['CAST_TABLE', 'CastTable'],
  'contact-partner': ['CONTACT_PARTNER_TABLE', 'ContactPartnerTable'],
  chat: ['CHAT_TOPIC_ARN', 'ChatTopicArn'],
  review: ['REVIEW_TOPIC_ARN', 'ReviewTopicArn'],
};

describe('each function', () => {
  test('is there under its name on the command line', () => {
    expect([...stack.functions.keys()].sort()).toEqual(
      ['receiver', 'smoke-test', ...eventNames.map(kebabCase)].sort(),
    );
  });

  test('has an access key of its own', () => {
    const keys = [...stack.functions.values()].map(({ definition }) => definition.credentials.accessKeyId);
    expect(new Set(keys).size).toBe(stack.functions.size);
  });

  test.each([
    ...eventNames.map((event) => [kebabCase(event), ...whereEffectIs[catalogue[event].effect]] as const),
    ['receiver', 'WEBHOOK_SECRET_ARN', 'WebhookSecretArn'],
    ['receiver', 'QUARANTINE_QUEUE_URL', 'QuarantineQueueUrl'],
    ...eventNames.map(
      (event) => ['receiver', queueUrlVariable(event), `${pascalCase(event)}QueueUrl`] as const,
    ),
  ])('%s finds in %s what the stack says of it: %s', (service, variable, output) => {
    expect(definitionOf(service).environment[variable]).toBe(stack.outputs[output]);
  });

  test.each(['WEBHOOK_SECRET_ARN', 'CAST_TABLE', 'REVIEW_TOPIC_ARN'])(
    'has an environment of its own: shop-updated has no %s',
    (variable) => {
      expect(definitionOf('shop-updated').environment).not.toHaveProperty(variable);
    },
  );

  test('leaves the environment of the process around it alone', () => {
    expect(process.env).not.toHaveProperty('SHOP_CACHE_TABLE');
  });
});

describe('the HTTP API', () => {
  test.each([
    ['GET', '/api/v1/webhooks/partner'],
    ['PUT', '/api/v1/webhooks/partner'],
    ['POST', '/api/v1/webhooks/partner/'],
    ['POST', '/api/v1/webhooks'],
    ['POST', '/api/v2/webhooks/partner'],
    ['POST', '/'],
  ])('answers %s %s with 404', async (method, path) => {
    const response = await fetch(new URL(path, stack.outputs.WebhookUrl), { method });
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 404,
      body: { message: 'Not Found' },
    });
  });
});

describe('what a stack takes', () => {
  /** Execution environments, busy or not. */
  const environments = () =>
    [...stack.functions.values()].reduce((sum, item) => sum + item.function.environments, 0);

  test('is bounded: a burst starts few environments beyond the first of each function', async () => {
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

  test('is told: requests served, and the most memory held', async () => {
    const { requests } = stack.usage();
    await new Partner(stack.outputs.WebhookUrl).post({});
    const usage = stack.usage();
    expect(usage.requests).toBe(requests + 1);
    expect(usage.peakMegabytes).toBeGreaterThanOrEqual(Math.floor(process.memoryUsage.rss() / 2 ** 20) / 2);
  });
});

describe('the secret', () => {
  test('has the value that the stack was started with', async () => {
    const { SecretString } = await readSecret(clientsOf());
    expect(SecretString).toBe(TEST_SECRET);
  });
});

describe('a poison message in a batch', () => {
  const shopUpdated = (shopId: string) =>
    JSON.stringify({ event: 'shop.updated', data: { shop_id: shopId }, timestamp: '2026-01-31T09:00:00Z' });

  beforeAll(async () => {
    const { sqs } = clientsOf();
    const deadLetterQueue = await sqs.send(
      new GetQueueAttributesCommand({
        QueueUrl: stack.outputs.ShopUpdatedDeadLetterQueueUrl,
        AttributeNames: ['QueueArn'],
      }),
    );
    await sqs.send(
      new SetQueueAttributesCommand({
        QueueUrl: stack.outputs.ShopUpdatedQueueUrl,
        Attributes: {
          VisibilityTimeout: '1',
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: deadLetterQueue.Attributes?.QueueArn,
            maxReceiveCount: 2,
          }),
        },
      }),
    );
    await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: stack.outputs.ShopUpdatedQueueUrl,
        Entries: [
          { Id: 'first', MessageBody: shopUpdated('shop-before-poison') },
          { Id: 'poison', MessageBody: 'poison' },
          { Id: 'last', MessageBody: shopUpdated('shop-after-poison') },
        ],
      }),
    );
  });

  test.each(['shop-before-poison', 'shop-after-poison'])(
    'does not keep %s from its effect',
    async (shopId) => {
      const tables = new Tables(stack.operator);
      const item = await eventually(() => tables.get(stack.outputs.ShopCacheTable, { shop_id: shopId }));
      expect(item).toHaveProperty('invalidated_at');
    },
  );

  test('ends up in the dead-letter queue', async () => {
    const message = await new Queues(stack.operator).take(
      stack.outputs.ShopUpdatedDeadLetterQueueUrl,
      ({ Body }) => Body === 'poison',
    );
    expect(message.Body).toBe('poison');
  });
});

describe('ports', () => {
  const portOf = (url: string | undefined) => Number(new URL(url ?? '').port);

  async function accepts(port: number): Promise<boolean> {
    return fetch(`http://localhost:${port}`).then(
      () => true,
      () => false,
    );
  }

  test('are free again once the stack is closed: another one starts on the same ports', async () => {
    const first = await startTestStack();
    const ports = { port: portOf(first.outputs.WebhookUrl), awsPort: portOf(first.awsUrl) };
    await first.close();
    const second = await startTestStack(ports);
    try {
      const answer = await new Partner(second.outputs.WebhookUrl).post({});
      expect({
        status: answer.status,
        port: portOf(second.outputs.WebhookUrl),
        awsPort: portOf(second.awsUrl),
      }).toEqual({
        status: 400,
        ...ports,
      });
    } finally {
      await second.close();
    }
  });

  describe('that are taken', () => {
    const taken = createServer();
    let port: number;

    beforeAll(async () => {
      await once(taken.listen({ port: 0, host: '127.0.0.1' }), 'listening');
      port = (taken.address() as AddressInfo).port;
    });

    afterAll(() => once(taken.close(), 'close'));

    test.each(['port', 'awsPort'] as const)('reject the start: %s', async (option) => {
      await expect(startTestStack({ [option]: port })).rejects.toMatchObject({ code: 'EADDRINUSE', port });
    });

    test('leave nothing of the stack running', async () => {
      const spare = createServer();
      await once(spare.listen({ port: 0, host: '127.0.0.1' }), 'listening');
      const awsPort = (spare.address() as AddressInfo).port;
      await once(spare.close(), 'close');
      await expect(startTestStack({ port, awsPort })).rejects.toThrow();
      expect(await accepts(awsPort)).toBe(false);
    });
  });
});

describe('an observer that fails', () => {
  test('what an observer throws is said, and thrown no further', () => {
    const problems: string[] = [];
    const fail = () => {
      throw new RangeError('Too much\nof it');
    };
    const observer = guardedObserver(
      { onExchange: fail, onItemChange: fail, onNotification: fail },
      (problem) => problems.push(problem),
    );
    observer.onItemChange({ table: 'table', key: {}, before: undefined, after: undefined, at: new Date() });
    expect(problems).toEqual(['What observes items failed: RangeError: Too much']);
  });
});
