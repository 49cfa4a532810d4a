import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { batchOutcome } from '../../functions/event-source/batch-result.ts';
import { splitBySize, toRecord } from '../../functions/event-source/sqs-event.ts';
import {
  SqsEventSource,
  type SqsEventSourceDefinition,
  type SqsEventSourceOptions,
} from '../../functions/event-source/sqs-event-source.ts';
import { type InvocationResult, TooManyRequestsError } from '../../functions/invocation.ts';

const region = 'eu-central-1';
const credentials = { accessKeyId: 'AKIALOCAL', secretAccessKey: 'local-key' };

let aws: FauxqsServer;
let client: SQSClient;
let queues = 0;
const sources: SqsEventSource[] = [];

beforeAll(async () => {
  aws = await startFauxqs({ port: 0, logger: false });
  client = new SQSClient({ region, credentials, endpoint: `http://127.0.0.1:${aws.port}` });
});

afterEach(async () => {
  for (const source of sources.splice(0)) await source.stop();
});

afterAll(async () => {
  client.destroy();
  await aws.stop();
});

const succeed = async (): Promise<InvocationResult> => ({ ok: true, payload: null });

function createQueue(visibilityTimeoutSeconds = 30) {
  queues += 1;
  return aws.createQueue(`queue-${queues}`, {
    region,
    attributes: { VisibilityTimeout: String(visibilityTimeoutSeconds) },
  });
}

type Queue = ReturnType<typeof createQueue>;

function startSource(
  queue: Queue,
  invoke: (event: SQSEvent) => Promise<InvocationResult>,
  definition: Partial<SqsEventSourceDefinition> = {},
  useClient = client,
  options: Partial<SqsEventSourceOptions> = {},
) {
  const problems: string[] = [];
  const source = new SqsEventSource(
    {
      functionName: 'shop-updated',
      queueUrl: queue.queueUrl,
      queueArn: queue.queueArn,
      batchSize: 10,
      maximumBatchingWindowSeconds: 0,
      reportBatchItemFailures: true,
      maximumConcurrency: 2,
      ...definition,
    },
    { client: useClient, invoke, ...options, onProblem: (message) => problems.push(message) },
  );
  source.enable();
  sources.push(source);
  return { source, problems };
}

async function send(queue: Queue, ...bodies: string[]): Promise<void> {
  const Entries = bodies.map((body, index) => ({ Id: String(index), MessageBody: body }));
  await client.send(new SendMessageBatchCommand({ QueueUrl: queue.queueUrl, Entries }));
}

function counts(queue: Queue) {
  const messages = aws.inspectQueue(queue.queueName)?.messages;
  return { ready: messages?.ready.length, inflight: messages?.inflight.length };
}

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 20) {
    if (waited > 15_000) throw new Error('what the test waits for has not come about');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('the batch', () => {
  /** Measures the milliseconds between two batches. */
  async function distance(options: { busyFor: number; maxPauseMilliseconds: number }): Promise<number> {
    const queue = createQueue();
    await send(queue, 'first');
    const times: number[] = [];
    const invoke = async () => {
      times.push(performance.now());
      if (times.length === 1) await send(queue, 'second');
      return succeed();
    };
    const { source } = startSource(queue, invoke, {}, client, {
      isBusy: () => performance.now() - (times[0] ?? Number.POSITIVE_INFINITY) < options.busyFor,
      maxPauseMilliseconds: options.maxPauseMilliseconds,
    });
    await until(() => times.length === 2 && source.isIdle);
    const [first = 0, second = 0] = times;
    return second - first;
  }

  test.each([
    { until: 'there is no more urgent work', busyFor: 300, maxPauseMilliseconds: 60_000 },
    { until: 'it has waited for its limit', busyFor: 60_000, maxPauseMilliseconds: 300 },
  ])('waits until $until', async (options) => {
    // 299 and not 300, because timers count in whole milliseconds.
    expect(await distance(options)).toBeGreaterThanOrEqual(299);
  });

  test('has a message with all its attributes, which is deleted after a success', async () => {
    const queue = createQueue();
    const MessageAttributes = { event: { DataType: 'String', StringValue: 'shop.updated' } };
    const sent = { QueueUrl: queue.queueUrl, MessageBody: '{"event":"shop.updated"}', MessageAttributes };
    await client.send(new SendMessageCommand(sent));
    const events: SQSEvent[] = [];
    const { source, problems } = startSource(queue, async (event) => {
      events.push(event);
      return succeed();
    });
    await until(() => events.length > 0 && source.isIdle);
    const [record] = events[0]?.Records ?? [];
    expect(record).toMatchObject({
      body: sent.MessageBody,
      attributes: { ApproximateReceiveCount: '1', SentTimestamp: expect.stringMatching(/^\d{13}$/) },
      messageAttributes: { event: { stringValue: 'shop.updated' } },
    });
    expect(counts(queue)).toEqual({ ready: 0, inflight: 0 });
    expect(problems).toEqual([]);
  });

  test('is gathered over several receives during the batching window', async () => {
    const queue = createQueue();
    const batches: string[][] = [];
    const { source } = startSource(
      queue,
      async ({ Records }) => {
        batches.push(Records.map((record) => record.body));
        return succeed();
      },
      { batchSize: 12, maximumBatchingWindowSeconds: 20 },
    );
    await send(queue, ...'abcdefghij');
    await until(() => !source.isIdle);
    await send(queue, 'k', 'l');
    await until(() => batches.length > 0 && source.isIdle);
    expect(batches).toEqual([[...'abcdefghijkl']]);
    expect(counts(queue)).toEqual({ ready: 0, inflight: 0 });
  });

  test('is never larger than the batch size, and waits until fewer than the maximum are running', async () => {
    const queue = createQueue();
    await send(queue, '1', '2', '3', '4', '5', '6', '7');
    const sizes: number[] = [];
    let running = 0;
    let most = 0;
    startSource(
      queue,
      async ({ Records }) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 100));
        running -= 1;
        sizes.push(Records.length);
        return succeed();
      },
      { batchSize: 2 },
    );
    await until(() => sizes.length === 4);
    expect(sizes.sort()).toEqual([1, 2, 2, 2]);
    expect(most).toBe(2);
  });
});

describe('the messages of a batch', () => {
  test('return after the visibility timeout if the function reports them as failed', async () => {
    const queue = createQueue(1);
    await send(queue, 'good', 'bad');
    const seen: string[] = [];
    const { source } = startSource(queue, async ({ Records }) => {
      seen.push(...Records.map((record) => `${record.body} ${record.attributes.ApproximateReceiveCount}`));
      const failed = Records.filter(
        (record) => record.body === 'bad' && record.attributes.ApproximateReceiveCount === '1',
      );
      const batchItemFailures = failed.map((record) => ({ itemIdentifier: record.messageId }));
      return { ok: true, payload: { batchItemFailures } };
    });
    await until(() => seen.includes('bad 2') && source.isIdle);
    expect(seen).toEqual(['good 1', 'bad 1', 'bad 2']);
    expect(counts(queue)).toEqual({ ready: 0, inflight: 0 });
  });

  const leavesAll: { given: string; invoke: () => Promise<InvocationResult>; expected: RegExp[] }[] = [
    {
      given: 'a function error',
      invoke: async () => ({ ok: false, errorType: 'Error', errorMessage: 'no table' }),
      expected: [],
    },
    {
      given: 'a function without free concurrency',
      invoke: () => Promise.reject(new TooManyRequestsError()),
      expected: [/Event source of .*: Lambda Invoke: TooManyRequestsException: Rate Exceeded\./],
    },
    {
      given: 'a malformed response',
      invoke: async () => ({ ok: true, payload: { batchItemFailures: 7 } }),
      expected: [/not a list/],
    },
  ];

  test.each(leavesAll)('$given leaves all to the visibility timeout', async ({ invoke, expected }) => {
    const queue = createQueue();
    await send(queue, 'one', 'two');
    let invocations = 0;
    const { source, problems } = startSource(queue, () => {
      invocations += 1;
      return invoke();
    });
    await until(() => invocations > 0 && source.isIdle);
    expect(counts(queue)).toEqual({ ready: 0, inflight: 2 });
    expect(problems).toEqual(expected.map((problem) => expect.stringMatching(problem)));
  });
});

describe('problems with the queue', () => {
  /** A client whose first calls of an operation fail, as if the endpoint restarted. */
  function failing(command: string, times: number): SQSClient {
    const flaky = new SQSClient({
      region,
      credentials,
      endpoint: `http://127.0.0.1:${aws.port}`,
      maxAttempts: 1,
    });
    let failures = 0;
    flaky.middlewareStack.add((next, context) => (args) => {
      if (context.commandName === command && failures < times) {
        failures += 1;
        throw new Error('connection refused');
      }
      return next(args);
    });
    return flaky;
  }

  test.each(['ReceiveMessage', 'DeleteMessageBatch'])(
    '%s is retried, and its failures are reported once',
    async (operation) => {
      const queue = createQueue();
      await send(queue, 'secret content');
      let invocations = 0;
      const { source, problems } = startSource(
        queue,
        async () => {
          invocations += 1;
          return succeed();
        },
        {},
        failing(`${operation}Command`, 3),
      );
      await until(() => invocations > 0 && source.isIdle);
      expect(invocations).toBe(1);
      expect(counts(queue)).toEqual({ ready: 0, inflight: 0 });
      expect(problems).toEqual([expect.stringContaining(`: SQS ${operation}: Error: connection refused`)]);
      expect(problems.join()).not.toContain('secret content');
    },
  );

  test('a missing queue is reported, and polled again', async () => {
    const missing = {
      queueUrl: `http://127.0.0.1:${aws.port}/000000000000/none`,
      queueArn: 'arn:none',
      queueName: 'none',
    };
    const { problems } = startSource(missing, succeed);
    await until(() => problems.length > 0);
    expect(problems).toEqual([expect.stringContaining('SQS ReceiveMessage: QueueDoesNotExist')]);
  });
});

describe('turned off', () => {
  test('it does not receive messages until it is turned on again', async () => {
    const queue = createQueue();
    const seen: string[] = [];
    const { source, problems } = startSource(queue, async ({ Records }) => {
      seen.push(...Records.map(({ body, attributes }) => `${body} ${attributes.ApproximateReceiveCount}`));
      return succeed();
    });
    await source.disable();
    await send(queue, 'one', 'two');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([seen, counts(queue)]).toEqual([[], { ready: 2, inflight: 0 }]);
    source.enable();
    await until(() => seen.length === 2 && source.isIdle);
    expect(seen.sort()).toEqual(['one 1', 'two 1']);
    expect(problems).toEqual([]);
  });

  test('it ends its current batch first', async () => {
    const queue = createQueue();
    await send(queue, 'one');
    const result = Promise.withResolvers<InvocationResult>();
    const { source } = startSource(queue, () => result.promise);
    await until(() => !source.isIdle);
    let isOff = false;
    const off = source.disable().then(() => {
      isOff = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(isOff).toBe(false);
    result.resolve({ ok: true, payload: null });
    await off;
    expect(counts(queue)).toEqual({ ready: 0, inflight: 0 });
    await source.stop();
    expect(source.isIdle).toBe(true);
  });
});

describe('stopping', () => {
  test('ends a long poll at once, without a problem', async () => {
    const queue = createQueue();
    const { source, problems } = startSource(queue, succeed);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const start = performance.now();
    await source.stop();
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(problems).toEqual([]);
  });

  test('waits for the running batch, and deletes its messages', async () => {
    const queue = createQueue();
    await send(queue, 'one');
    const result = Promise.withResolvers<InvocationResult>();
    const { source } = startSource(queue, () => result.promise);
    await until(() => !source.isIdle);
    const stopped = source.stop();
    result.resolve({ ok: true, payload: null });
    await stopped;
    expect(source.isIdle).toBe(true);
    expect(counts(queue)).toEqual({ ready: 0, inflight: 0 });
  });

  // Takes 10 s: the time after which a batch is abandoned.
  test('does not wait forever for a batch that hangs', async () => {
    const queue = createQueue();
    await send(queue, 'one');
    const { source } = startSource(queue, () => new Promise(() => {}));
    await until(() => !source.isIdle);
    await source.stop();
    expect(counts(queue)).toEqual({ ready: 0, inflight: 1 });
  });
});

const ARN = 'arn:aws:sqs:us-east-1:000000000000:shop-updated';

test("a record has the shape of Lambda's", () => {
  const message = {
    MessageId: '059f36b4-87a3-44ab-83d2-661975830a7d',
    ReceiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
    Body: '{"event":"shop.updated"}',
    MD5OfBody: 'e4e68fb7bd0e697a0ae8f1bb342846b3',
    MD5OfMessageAttributes: '00484c68f59a9e1c0f1b5ac8a4ae9e57',
    Attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1545082649183',
      SenderId: 'AIDAIENQZJOLO23YVJ4VO',
      ApproximateFirstReceiveTimestamp: '1545082649185',
      MessageGroupId: 'shop-7',
    },
    MessageAttributes: {
      event: { DataType: 'String', StringValue: 'shop.updated' },
      raw: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2, 255]) },
    },
  };
  expect(toRecord(message, ARN)).toEqual({
    messageId: '059f36b4-87a3-44ab-83d2-661975830a7d',
    receiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
    body: '{"event":"shop.updated"}',
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1545082649183',
      SenderId: 'AIDAIENQZJOLO23YVJ4VO',
      ApproximateFirstReceiveTimestamp: '1545082649185',
      MessageGroupId: 'shop-7',
    },
    messageAttributes: {
      event: { stringValue: 'shop.updated', stringListValues: [], binaryListValues: [], dataType: 'String' },
      raw: { binaryValue: 'AQL/', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
    },
    md5OfMessageAttributes: '00484c68f59a9e1c0f1b5ac8a4ae9e57',
    md5OfBody: 'e4e68fb7bd0e697a0ae8f1bb342846b3',
    eventSource: 'aws:sqs',
    eventSourceARN: ARN,
    awsRegion: 'us-east-1',
  });
});

describe('splitting by size', () => {
  const records = (count: number, size: number) =>
    Array.from({ length: count }, (_, index) =>
      toRecord({ MessageId: String(index), Body: 'é'.repeat(size) }, ARN),
    );

  test('keeps records that fit together, in order', () => {
    const all = records(10, 500_000);
    const batches = splitBySize(all);
    expect(batches.map((batch) => batch.length)).toEqual([6, 4]);
    expect(batches.flat()).toEqual(all);
    for (const batch of batches) {
      expect(Buffer.byteLength(JSON.stringify({ Records: batch }))).toBeLessThanOrEqual(6 * 1024 * 1024);
    }
  });

  test('makes a batch of a single record that is too large, and none of no records', () => {
    expect(splitBySize(records(2, 100), 50).map((batch) => batch.length)).toEqual([1, 1]);
    expect(splitBySize([], 50)).toEqual([]);
  });
});

describe('a batch result', () => {
  const ids = ['a', 'b', 'c'];
  const failing = (...identifiers: unknown[]) => ({
    batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
  });

  test.each([true, false])('a function error deletes nothing (ReportBatchItemFailures: %s)', (report) => {
    const result = { ok: false as const, errorType: 'Error', errorMessage: 'no table' };
    expect(batchOutcome(ids, result, report)).toEqual({ deleted: [] });
  });

  test('without ReportBatchItemFailures deletes all after a success', () => {
    expect(batchOutcome(ids, { ok: true, payload: failing('a') }, false)).toEqual({ deleted: ids });
  });

  test.each([
    { payload: null, deleted: ids },
    { payload: { processed: 3 }, deleted: ids },
    { payload: failing(), deleted: ids },
    { payload: { batchItemFailures: null }, deleted: ids },
    { payload: failing('b', 'b'), deleted: ['a', 'c'] },
    { payload: failing('c', 'b', 'a'), deleted: [] },
  ])('$payload deletes $deleted with ReportBatchItemFailures', ({ payload, deleted }) => {
    expect(batchOutcome(ids, { ok: true, payload }, true)).toEqual({ deleted });
  });

  test.each([
    'done',
    [['a']],
    { batchItemFailures: 'a' },
    { batchItemFailures: ['a'] },
    { batchItemFailures: [null] },
    { batchItemFailures: [{ messageId: 'a' }] },
    failing(null),
    failing(''),
    failing(7),
    failing('a', 'z'),
  ])('%j is malformed and deletes nothing', (payload) => {
    expect(batchOutcome(ids, { ok: true, payload }, true)).toEqual({
      deleted: [],
      malformed: expect.any(String),
    });
  });
});
