import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { FirehoseClient, ListDeliveryStreamsCommand } from '@aws-sdk/client-firehose';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
} from '@aws-sdk/client-secrets-manager';
import { ListTopicsCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type AwsEndpoint, startAwsEndpoint } from '../../aws/endpoint.ts';
import { type Fault, InjectedFaults } from '../../aws/faults.ts';
import { eventually } from '../eventually.ts';
import { addRole, clientsOf, ROLE, settingsOf, signedFor } from './support.ts';

/** Message of Node.js for ECONNRESET. */
const CONNECTION_LOST = 'socket hang up';

const faults = new InjectedFaults();
let endpoint: AwsEndpoint;
let role: ReturnType<typeof clientsOf>;
let operator: ReturnType<typeof clientsOf>;
let queues = 0;

async function startFaulty(injected: InjectedFaults): Promise<AwsEndpoint> {
  const started = await startAwsEndpoint({ port: 0, faults: injected });
  addRole(started);
  return started;
}

beforeAll(async () => {
  endpoint = await startFaulty(faults);
  role = clientsOf(endpoint, ROLE);
  operator = clientsOf(endpoint);
});
afterEach(() => faults.clear());
afterAll(() => endpoint.close());

async function createQueue(): Promise<string> {
  queues += 1;
  const { QueueUrl } = await operator.sqs.send(new CreateQueueCommand({ QueueName: `queue-${queues}` }));
  return QueueUrl ?? '';
}

async function bodiesOn(QueueUrl: string): Promise<(string | undefined)[]> {
  const { Messages = [] } = await operator.sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
  );
  return Messages.map(({ Body }) => Body);
}

const send = (QueueUrl: string) => new SendMessageCommand({ QueueUrl, MessageBody: 'order 7' });

/**
 * Makes calls one after the other.
 * @returns for each of them whether a fault made it fail
 */
async function hitsOf(calls: number, clients = role): Promise<boolean[]> {
  const hits: boolean[] = [];
  for (let call = 0; call < calls; call += 1) {
    hits.push(
      await clients.sqs.send(new ListQueuesCommand({})).then(
        () => false,
        () => true,
      ),
    );
  }
  return hits;
}

describe('a service that is down', () => {
  test('breaks the connection, and carries nothing out', async () => {
    const queue = await createQueue();
    faults.inject({ service: 'sqs', kind: 'down' });
    await expect(role.sqs.send(send(queue))).rejects.toThrow(CONNECTION_LOST);
    expect(await bodiesOn(queue)).toEqual([]);
  });

  test('is available again for the same client after the fault', async () => {
    const end = faults.inject({ service: 'sqs', kind: 'down' });
    expect(await hitsOf(1)).toEqual([true]);
    end();
    expect(await hitsOf(1)).toEqual([false]);
  });

  test('fails a long poll at once', async () => {
    const queue = await createQueue();
    faults.inject({ service: 'sqs', kind: 'down' });
    const receive = new ReceiveMessageCommand({ QueueUrl: queue, WaitTimeSeconds: 20 });
    const started = performance.now();
    await expect(role.sqs.send(receive)).rejects.toThrow(CONNECTION_LOST);
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test('does not affect other services, or other operations if only one is down', async () => {
    const queue = await createQueue();
    faults.inject({ service: 'sqs', operation: 'SendMessage', kind: 'down' });
    await expect(role.sqs.send(send(queue))).rejects.toThrow();
    await expect(role.sqs.send(new ListQueuesCommand({}))).resolves.toBeDefined();
    await expect(role.dynamodb.send(new ListTablesCommand({}))).resolves.toMatchObject({ TableNames: [] });
  });
});

describe('a throttled service', () => {
  const s3 = () =>
    new S3Client({
      ...settingsOf(endpoint, ROLE),
      endpoint: endpoint.url.replace('localhost', '127.0.0.1'),
      forcePathStyle: true,
    });

  test.each([
    { service: 'sqs', name: 'RequestThrottled', call: () => role.sqs.send(new ListQueuesCommand({})) },
    { service: 'sns', name: 'Throttling', call: () => role.sns.send(new ListTopicsCommand({})) },
    {
      service: 'dynamodb',
      name: 'ProvisionedThroughputExceededException',
      call: () => role.dynamodb.send(new ListTablesCommand({})),
    },
    {
      service: 'secretsmanager',
      name: 'ThrottlingException',
      call: () => role.secrets.send(new ListSecretsCommand({})),
    },
    { service: 's3', name: 'SlowDown', call: () => s3().send(new ListBucketsCommand({})) },
    {
      service: 'firehose',
      name: 'ServiceUnavailableException',
      call: () => new FirehoseClient(settingsOf(endpoint, ROLE)).send(new ListDeliveryStreamsCommand({})),
    },
  ] as const)('answers with the error of its own: $service with $name', async ({ service, name, call }) => {
    faults.inject({ service, kind: 'throttled' });
    await expect(call()).rejects.toMatchObject({ name });
  });
});

describe('a slow service', () => {
  test('answers as usual, later', async () => {
    faults.inject({ service: 'sqs', kind: 'slow', milliseconds: 200 });
    const started = performance.now();
    expect(await hitsOf(1)).toEqual([false]);
    expect(performance.now() - started).toBeGreaterThanOrEqual(195);
  });

  test('delays neither other calls nor the end of the endpoint', async () => {
    const slow = new InjectedFaults();
    slow.inject({ service: 'sqs', kind: 'slow', milliseconds: 60_000 });
    const other = await startFaulty(slow);
    const clients = clientsOf(other, ROLE);
    const waiting = Promise.allSettled(
      Array.from({ length: 20 }, () => clients.sqs.send(new ListQueuesCommand({}))),
    );
    const started = performance.now();
    await eventually(async () => (slow.counts.slow === 20 ? true : undefined));
    await clients.dynamodb.send(new ListTablesCommand({}));
    await other.close();
    expect(new Set((await waiting).map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

describe('a lost response', () => {
  test('belongs to an operation that was carried out', async () => {
    const queue = await createQueue();
    faults.inject({ service: 'sqs', kind: 'response-lost' });
    await expect(role.sqs.send(send(queue))).rejects.toThrow(CONNECTION_LOST);
    expect(await bodiesOn(queue)).toEqual(['order 7']);
  });

  test('may be a refusal', async () => {
    await operator.secrets.send(new CreateSecretCommand({ Name: 'taken', SecretString: 'first' }));
    faults.inject({ service: 'secretsmanager', kind: 'response-lost' });
    const again = new CreateSecretCommand({ Name: 'taken', SecretString: 'second' });
    await expect(role.secrets.send(again)).rejects.toThrow(CONNECTION_LOST);
    const { SecretString } = await operator.secrets.send(new GetSecretValueCommand({ SecretId: 'taken' }));
    expect(SecretString).toBe('first');
  });
});

test('a stalled response is of an operation that was carried out. It has headers, and ends with the fault', async () => {
  const queue = await createQueue();
  const end = faults.inject({ service: 'sqs', kind: 'response-stalled', callers: 'everyone' });
  const { status, body } = await fetch(endpoint.url, {
    method: 'POST',
    headers: { authorization: signedFor('sqs'), 'x-amz-target': 'AmazonSQS.SendMessage' },
    body: JSON.stringify({ QueueUrl: queue, MessageBody: 'order 7' }),
  });
  expect(status).toBe(200);
  const stalled = body?.getReader().read();
  end();
  await expect(stalled).rejects.toThrow('terminated');
  expect(await bodiesOn(queue)).toEqual(['order 7']);
});

describe('the calls that a fault hits', () => {
  test('are one of so many', async () => {
    faults.inject({ service: 'sqs', kind: 'down', every: 3 });
    expect(await hitsOf(7)).toEqual([false, false, true, false, false, true, false]);
  });

  const third: Fault = { service: 'sqs', kind: 'throttled', share: 1 / 3 };
  const slow: Fault = { service: 'sqs', kind: 'slow', milliseconds: 0, every: 1 };

  /**
   * Makes sixty calls to a new endpoint.
   * @returns for each of them whether it failed
   */
  async function run(seed: number, ...injected: Fault[]): Promise<boolean[]> {
    const seeded = new InjectedFaults(seed);
    for (const fault of injected) seeded.inject(fault);
    const other = await startFaulty(seeded);
    try {
      return await hitsOf(60, clientsOf(other, ROLE));
    } finally {
      await other.close();
    }
  }

  test('are a random share: equal for equal seeds, with any other faults, and different for other seeds', async () => {
    const hits = await run(7, third);
    expect(hits.filter(Boolean).length).toBeGreaterThan(8);
    expect(hits.filter(Boolean).length).toBeLessThan(35);
    expect(await run(7, third, slow)).toEqual(hits);
    expect(await run(8, third)).not.toEqual(hits);
  });

  test('exclude those of an operator, unless the fault is for everyone', async () => {
    const end = faults.inject({ service: 'sqs', kind: 'down' });
    expect(await hitsOf(1, operator)).toEqual([false]);
    end();
    faults.inject({ service: 'sqs', kind: 'down', callers: 'everyone' });
    expect([await hitsOf(1, operator), await hitsOf(1, role)]).toEqual([[true], [true]]);
  });

  test('exclude those that the role may not make', async () => {
    const queue = await createQueue();
    endpoint.addPrincipals([{ name: 'RoleWithoutRights', accessKeyId: 'AKIANONE', statements: [] }]);
    faults.inject({ service: 'sqs', kind: 'down' });
    await expect(
      clientsOf(endpoint, 'AKIANONE').sqs.send(new DeleteQueueCommand({ QueueUrl: queue })),
    ).rejects.toMatchObject({ name: 'AccessDenied' });
  });

  test('are counted by kind and by fault', async () => {
    const before = { ...faults.counts };
    faults.inject({ service: 'sqs', kind: 'throttled', every: 2 });
    faults.inject({ service: 'sqs', kind: 'down' });
    await hitsOf(5);
    expect(faults.counts).toEqual({ ...before, throttled: before.throttled + 2, down: before.down + 3 });
    expect(faults.active).toEqual([
      { id: expect.any(String), service: 'sqs', kind: 'throttled', every: 2, hits: 2 },
      { id: expect.any(String), service: 'sqs', kind: 'down', hits: 3 },
    ]);
  });
});

test('active faults are ended one by one, or all together', async () => {
  const down: Fault = { service: 'sqs', kind: 'down' };
  for (let count = 0; count < 3; count += 1) faults.inject(down);
  const [first = '', second, third] = faults.active.map(({ id }) => id);
  expect([faults.end(first), faults.end(first)]).toEqual([true, false]);
  expect(faults.active).toEqual([
    { ...down, id: second, hits: 0 },
    { ...down, id: third, hits: 0 },
  ]);
  expect(await hitsOf(1)).toEqual([true]);
  faults.clear();
  expect(faults.active).toEqual([]);
  expect(await hitsOf(1)).toEqual([false]);
});

test.each<{ fault: Partial<Fault>; message: string }>([
  { fault: { kind: 'slow' }, message: "'slow' needs its milliseconds" },
  { fault: { share: 1.5 }, message: 'share must be from 0 to 1, not 1.5' },
  { fault: { share: Number.NaN }, message: 'share must be from 0 to 1, not NaN' },
  { fault: { every: 0 }, message: 'every must be a whole number from 1, not 0' },
  { fault: { share: 0.5, every: 2 }, message: 'share and every cannot be combined' },
  { fault: { kind: 'records-refused' }, message: "'records-refused' is only for Firehose's PutRecordBatch" },
])('a meaningless fault is refused: $fault', ({ fault, message }) => {
  expect(() => faults.inject({ service: 'sqs', kind: 'down', ...fault })).toThrow(new RangeError(message));
});
