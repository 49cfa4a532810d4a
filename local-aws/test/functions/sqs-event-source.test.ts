import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { InjectedFaults } from '../../aws/faults.ts';
import { arnOf } from '../../aws/service-forms.ts';
import { awsCaller } from '../../aws-caller.ts';
import { type InvocationResult, TooManyRequestsError } from '../../functions/invocation.ts';
import { processedIds, splitBySize } from '../../functions/sqs-batch.ts';
import { SqsEventSource, type SqsEventSourceOptions } from '../../functions/sqs-event-source.ts';
import { addRole, eventually, ROLE, startEndpoint } from '../support.ts';

const faults = new InjectedFaults();
const sources: SqsEventSource[] = [];
let aws: Awaited<ReturnType<typeof startEndpoint>>;
let queues = 0;

beforeAll(async () => {
  aws = await startEndpoint({ faults });
  addRole(aws);
});
afterEach(async () => {
  faults.clear();
  for (const source of sources.splice(0)) await source.stop();
});
afterAll(() => aws.close());

const call = (operation: string, input: object) =>
  awsCaller(aws.url, 'operator').json('sqs', operation, input);

/** @returns the name of a new queue */
async function createQueue(VisibilityTimeout = 30): Promise<string> {
  queues += 1;
  await call('CreateQueue', {
    QueueName: `queue-${queues}`,
    Attributes: { VisibilityTimeout: String(VisibilityTimeout) },
  });
  return `queue-${queues}`;
}

const urlOf = (queue: string) => `${aws.url}/000000000000/${queue}`;
const send = (queue: string, ...bodies: string[]) =>
  call('SendMessageBatch', {
    QueueUrl: urlOf(queue),
    Entries: bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody })),
  });
const statesOn = async (queue: string) => (await aws.inspectQueue(urlOf(queue))).map(({ state }) => state);

type Invoke = (event: SQSEvent) => Promise<InvocationResult>;

const succeed: Invoke = async () => ({ ok: true, payload: null });

function startSource(queue: string, invoke: Invoke, options: Partial<SqsEventSourceOptions> = {}) {
  const problems: string[] = [];
  const source = new SqsEventSource({
    functionName: 'shop-updated',
    queueUrl: urlOf(queue),
    queueArn: arnOf('sqs', queue),
    batchSize: 10,
    reportBatchItemFailures: true,
    maximumConcurrency: 2,
    aws: awsCaller(aws.url, ROLE),
    invoke,
    onProblem: (message) => problems.push(message),
    ...options,
  });
  source.enable();
  sources.push(source);
  return { source, problems };
}

const until = (holds: () => boolean) => eventually(async () => holds() || undefined);
const untilEmpty = (queue: string) =>
  eventually(async () => (await statesOn(queue)).length === 0 || undefined);
const untilReceived = (queue: string) =>
  eventually(async () => (await statesOn(queue)).every((state) => state === 'in flight') || undefined);

describe('the batch', () => {
  test("has a message with all its attributes in Lambda's form, which is deleted after a success", async () => {
    const queue = await createQueue();
    const sent = {
      MessageBody: '{"event":"shop.updated"}',
      MessageAttributes: {
        event: { DataType: 'String', StringValue: 'shop.updated' },
        raw: { DataType: 'Binary', BinaryValue: 'AQL/' },
      },
    };
    await call('SendMessage', { QueueUrl: urlOf(queue), ...sent });
    const events: SQSEvent[] = [];
    const { problems } = startSource(queue, async (event) => {
      events.push(event);
      return succeed(event);
    });
    await untilEmpty(queue);
    const lists = { stringListValues: [], binaryListValues: [] };
    const time = expect.stringMatching(/^\d{13}$/);
    expect(events[0]?.Records).toEqual([
      {
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        receiptHandle: expect.any(String),
        body: sent.MessageBody,
        attributes: expect.objectContaining({
          ApproximateReceiveCount: '1',
          SentTimestamp: time,
          ApproximateFirstReceiveTimestamp: time,
          SenderId: expect.any(String),
        }),
        messageAttributes: {
          event: { stringValue: 'shop.updated', ...lists, dataType: 'String' },
          raw: { binaryValue: 'AQL/', ...lists, dataType: 'Binary' },
        },
        md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
        md5OfBody: 'ac050321ad65e79246e0b880650fecf1',
        eventSource: 'aws:sqs',
        eventSourceARN: arnOf('sqs', queue),
        awsRegion: 'us-east-1',
      },
    ]);
    expect(problems).toEqual([]);
  });

  test('is never larger than the batch size, and waits until fewer than the maximum are running', async () => {
    const queue = await createQueue();
    await send(queue, '1', '2', '3', '4', '5', '6', '7');
    const sizes: number[] = [];
    let running = 0;
    let most = 0;
    const twoRun = Promise.withResolvers<void>();
    const invoke: Invoke = async (event) => {
      running += 1;
      most = Math.max(most, running);
      if (running === 2) twoRun.resolve();
      await twoRun.promise;
      // Time for a third one.
      await sleep(100);
      running -= 1;
      sizes.push(event.Records.length);
      return succeed(event);
    };
    startSource(queue, invoke, { batchSize: 2 });
    await until(() => sizes.length === 4);
    expect(sizes.sort()).toEqual([1, 2, 2, 2]);
    expect(most).toBe(2);
  });
});

describe('the messages of a batch', () => {
  test('return after the visibility timeout if the function reports them as failed', async () => {
    const queue = await createQueue(1);
    await send(queue, 'good', 'bad');
    const seen: string[] = [];
    startSource(queue, async ({ Records }) => {
      seen.push(...Records.map((record) => `${record.body} ${record.attributes.ApproximateReceiveCount}`));
      const failed = Records.filter(
        (record) => record.body === 'bad' && record.attributes.ApproximateReceiveCount === '1',
      );
      const batchItemFailures = failed.map((record) => ({ itemIdentifier: record.messageId }));
      return { ok: true, payload: { batchItemFailures } };
    });
    await untilEmpty(queue);
    expect(seen).toEqual(['good 1', 'bad 1', 'bad 2']);
  });

  const leavesAll: { given: string; invoke: Invoke; reported?: string }[] = [
    {
      given: 'a function error',
      invoke: async () => ({ ok: false, errorType: 'Error', errorMessage: 'no table' }),
    },
    {
      given: 'a function without free concurrency',
      invoke: () => Promise.reject(new TooManyRequestsError()),
      reported: 'Rate Exceeded.',
    },
    {
      given: 'a malformed response',
      invoke: async () => ({ ok: true, payload: { batchItemFailures: 7 } }),
      reported: 'the response is malformed: batchItemFailures is not a list',
    },
  ];

  test.each(leavesAll)('stay on the queue after $given', async ({ invoke, reported }) => {
    const queue = await createQueue();
    await send(queue, 'one', 'two');
    const { problems } = startSource(queue, invoke);
    await untilReceived(queue);
    const expected = reported === undefined ? [] : [`Event source of shop-updated: ${reported}`];
    await until(() => problems.length === expected.length);
    expect(await statesOn(queue)).toEqual(['in flight', 'in flight']);
    expect(problems).toEqual(expected);
  });
});

test.each(['ReceiveMessage', 'DeleteMessageBatch'])(
  '%s is retried, and its failures are reported once, without the message',
  async (operation) => {
    const queue = await createQueue();
    await send(queue, 'secret content');
    const end = faults.inject({ service: 'sqs', operation, kind: 'down' });
    const before = faults.counts.down;
    let invocations = 0;
    const { problems } = startSource(queue, (event) => {
      invocations += 1;
      return succeed(event);
    });
    await until(() => faults.counts.down >= before + 3);
    end();
    await untilEmpty(queue);
    expect(invocations).toBe(1);
    expect(problems).toEqual([`Event source of shop-updated: ${operation}: UND_ERR_SOCKET`]);
  },
);

describe('turned off', () => {
  test('it does not receive messages until it is turned on again', async () => {
    const queue = await createQueue();
    const seen: string[] = [];
    const { source, problems } = startSource(queue, async (event) => {
      seen.push(
        ...event.Records.map(({ body, attributes }) => `${body} ${attributes.ApproximateReceiveCount}`),
      );
      return succeed(event);
    });
    await source.disable();
    await send(queue, 'one', 'two');
    await sleep(300);
    expect([seen, await statesOn(queue)]).toEqual([[], ['waiting', 'waiting']]);
    source.enable();
    await untilEmpty(queue);
    expect(seen.sort()).toEqual(['one 1', 'two 1']);
    expect(problems).toEqual([]);
  });

  test.each(['disable', 'stop'] as const)('by %s() it ends its current batch first', async (off) => {
    const queue = await createQueue();
    await send(queue, 'one');
    const result = Promise.withResolvers<InvocationResult>();
    let isInvoked = false;
    const { source } = startSource(queue, () => {
      isInvoked = true;
      return result.promise;
    });
    await until(() => isInvoked);
    let isOff = false;
    const ended = source[off]().then(() => {
      isOff = true;
    });
    // Longer than a long poll.
    await sleep(2_500);
    expect(isOff).toBe(false);
    result.resolve({ ok: true, payload: null });
    await ended;
    expect(await statesOn(queue)).toEqual([]);
  });
});

// Takes 5 s: the time after which a batch is abandoned.
test('stopping does not wait forever for a batch that hangs', async () => {
  const queue = await createQueue();
  await send(queue, 'one');
  const result = Promise.withResolvers<InvocationResult>();
  const { source } = startSource(queue, () => result.promise);
  await untilReceived(queue);
  await source.stop();
  result.resolve({ ok: true, payload: null });
  expect(await statesOn(queue)).toEqual(['in flight']);
});

test('records are split into events that Lambda accepts, in order', () => {
  const records = (count: number, size: number) =>
    Array.from(
      { length: count },
      (_, index) => ({ messageId: `${index}`, body: 'é'.repeat(size) }) as SQSRecord,
    );
  const all = records(10, 500_000);
  const batches = splitBySize(all);
  expect(batches.map(({ length }) => length)).toEqual([6, 4]);
  expect(batches.flat()).toEqual(all);
  for (const Records of batches) {
    expect(Buffer.byteLength(JSON.stringify({ Records }))).toBeLessThanOrEqual(6 * 1024 * 1024);
  }
  expect(splitBySize([])).toEqual([]);
});

describe('a batch result', () => {
  const ids = ['a', 'b', 'c'];
  const failing = (...identifiers: unknown[]) => ({
    batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
  });

  test.each<[payload: unknown, reports: boolean, deleted: string[]]>([
    [failing('a'), false, ids],
    [null, true, ids],
    [failing(), true, ids],
    [{ batchItemFailures: null }, true, ids],
    [failing('b', 'b'), true, ['a', 'c']],
  ])('%j, with ReportBatchItemFailures %s, deletes %j', (payload, reports, deleted) => {
    expect(processedIds(ids, { ok: true, payload }, reports)).toEqual(deleted);
  });

  test.each([
    'done',
    { batchItemFailures: 'a' },
    { batchItemFailures: [null] },
    { batchItemFailures: [{ messageId: 'a' }] },
    failing(''),
    failing('a', 'z'),
  ])('%j is malformed', (payload) => {
    expect(() => processedIds(ids, { ok: true, payload }, true)).toThrow('the response is malformed: ');
  });
});
