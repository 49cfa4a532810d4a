import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../aws/endpoint.ts';
import { type Fault, InjectedFaults } from '../../aws/faults.ts';
import { awsCaller } from '../../aws-caller.ts';
import { addRole, eventually, ROLE, signedFor, startEndpoint } from '../support.ts';

/** Code of Node.js' fetch for a connection that the server has closed. */
const CONNECTION_LOST = 'UND_ERR_SOCKET';

const faults = new InjectedFaults();
let endpoint: AwsEndpoint;
let role: ReturnType<typeof awsCaller>;
let operator: ReturnType<typeof awsCaller>;
let queues = 0;

async function startFaulty(injected: InjectedFaults): Promise<AwsEndpoint> {
  const started = await startEndpoint({ faults: injected });
  addRole(started);
  return started;
}

beforeAll(async () => {
  endpoint = await startFaulty(faults);
  role = awsCaller(endpoint.url, ROLE);
  operator = awsCaller(endpoint.url, 'operator');
});
afterEach(() => faults.clear());
afterAll(() => endpoint.close());

async function createQueue(): Promise<string> {
  queues += 1;
  const { QueueUrl } = await operator.json('sqs', 'CreateQueue', { QueueName: `queue-${queues}` });
  return String(QueueUrl);
}
const bodiesOn = async (QueueUrl: string) => (await endpoint.inspectQueue(QueueUrl)).map(({ body }) => body);
const sendTo = (QueueUrl: string) => role.json('sqs', 'SendMessage', { QueueUrl, MessageBody: 'order 7' });

/** @returns for each of some calls, one after the other, whether a fault made it fail */
async function hitsOf(calls: number, caller = role): Promise<boolean[]> {
  const hits: boolean[] = [];
  for (let call = 0; call < calls; call += 1) {
    hits.push(
      await caller.json('sqs', 'ListQueues', {}).then(
        () => false,
        () => true,
      ),
    );
  }
  return hits;
}

describe('a service that is down', () => {
  test('breaks the connection, and carries nothing out, until the fault ends', async () => {
    const queue = await createQueue();
    const end = faults.inject({ service: 'sqs', kind: 'down' });
    await expect(sendTo(queue)).rejects.toThrow(CONNECTION_LOST);
    expect(await bodiesOn(queue)).toEqual([]);
    end();
    await sendTo(queue);
    expect(await bodiesOn(queue)).toEqual(['order 7']);
  });

  test('does not affect other services, or other operations if only one is down', async () => {
    const queue = await createQueue();
    faults.inject({ service: 'sqs', operation: 'SendMessage', kind: 'down' });
    await expect(sendTo(queue)).rejects.toThrow();
    expect(await hitsOf(1)).toEqual([false]);
    await expect(role.json('dynamodb', 'ListTables', {})).resolves.toEqual({ TableNames: [] });
  });
});

const records = { DeliveryStreamName: 's', Records: [{ Data: '' }] };
test.each<[service: Fault['service'], code: string, call: () => Promise<unknown>]>([
  ['sqs', 'RequestThrottled', () => role.json('sqs', 'ListQueues', {})],
  ['sns', 'Throttling', () => role.form('sns', { Action: 'ListTopics' })],
  ['dynamodb', 'ProvisionedThroughputExceededException', () => role.json('dynamodb', 'ListTables', {})],
  [
    'secretsmanager',
    'ThrottlingException',
    () => role.json('secretsmanager', 'GetSecretValue', { SecretId: 'a' }),
  ],
  ['s3', 'SlowDown', () => role.put('/bucket')],
  ['firehose', 'ServiceUnavailableException', () => role.json('firehose', 'PutRecordBatch', records)],
])('a throttled service answers with its own error: %s with %s', async (service, code, call) => {
  faults.inject({ service, kind: 'throttled' });
  await expect(call()).rejects.toThrow(code);
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
    slow.inject({ service: 'sqs', kind: 'slow', milliseconds: 600_000 });
    const other = await startFaulty(slow);
    const caller = awsCaller(other.url, ROLE);
    const waiting = Promise.all(Array.from({ length: 20 }, () => hitsOf(1, caller)));
    await eventually(async () => (slow.counts.slow === 20 ? true : undefined));
    await caller.json('dynamodb', 'ListTables', {});
    await other.close();
    expect((await waiting).flat()).toEqual(Array(20).fill(true));
  });
});

test('a lost response belongs to an operation that was carried out, or that has failed', async () => {
  const queue = await createQueue();
  faults.inject({ service: 'sqs', kind: 'response-lost' });
  await expect(sendTo(queue)).rejects.toThrow(CONNECTION_LOST);
  expect(await bodiesOn(queue)).toEqual(['order 7']);
  await expect(sendTo(`${queue}-not`)).rejects.toThrow(CONNECTION_LOST);
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

  test('are a random share: equal for equal seeds, with any other faults, and different for other seeds', async () => {
    const third: Fault = { service: 'sqs', kind: 'throttled', share: 1 / 3 };
    const run = async (seed: number, ...others: Fault[]) => {
      const seeded = new InjectedFaults(seed);
      for (const fault of [third, ...others]) seeded.inject(fault);
      const other = await startFaulty(seeded);
      const hits = await hitsOf(60, awsCaller(other.url, ROLE));
      await other.close();
      return hits;
    };
    const hits = await run(7);
    expect(hits.filter(Boolean).length).toBeGreaterThan(8);
    expect(hits.filter(Boolean).length).toBeLessThan(35);
    expect(await run(7, { service: 'sqs', kind: 'slow', milliseconds: 0, every: 1 })).toEqual(hits);
    expect(await run(8)).not.toEqual(hits);
  });

  test('exclude those of an operator, unless the fault is for everyone', async () => {
    const end = faults.inject({ service: 'sqs', kind: 'down' });
    expect(await hitsOf(1, operator)).toEqual([false]);
    end();
    faults.inject({ service: 'sqs', kind: 'down', callers: 'everyone' });
    expect([await hitsOf(1, operator), await hitsOf(1)]).toEqual([[true], [true]]);
  });

  test('exclude those that the role may not make', async () => {
    endpoint.addPrincipals([{ name: 'RoleWithoutRights', accessKeyId: 'AKIANONE', statements: [] }]);
    faults.inject({ service: 'sqs', kind: 'down' });
    const call = awsCaller(endpoint.url, 'AKIANONE').json('sqs', 'ListQueues', {});
    await expect(call).rejects.toThrow('AccessDenied');
  });

  test('are counted by kind and by fault. A fault ends alone, or with all others', async () => {
    const before = { ...faults.counts };
    const throttled: Fault = { service: 'sqs', kind: 'throttled', every: 2 };
    const down: Fault = { service: 'sqs', kind: 'down' };
    faults.inject(throttled);
    faults.inject(down);
    await hitsOf(5);
    expect(faults.counts).toEqual({ ...before, throttled: before.throttled + 2, down: before.down + 3 });
    const id = expect.any(String);
    expect(faults.active).toEqual([
      { ...throttled, id, hits: 2 },
      { ...down, id, hits: 3 },
    ]);
    const first = faults.active[0]?.id ?? '';
    expect([faults.end(first), faults.end(first)]).toEqual([true, false]);
    expect(faults.active).toEqual([{ ...down, id, hits: 3 }]);
    faults.clear();
    expect(await hitsOf(1)).toEqual([false]);
  });
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
