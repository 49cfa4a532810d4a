import { createHmac, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import fc from 'fast-check';
import { InjectedFaults } from 'local-aws/faults';
import { httpApiEvent } from 'local-aws/payload-format-2';
import { readSamples } from '../../../events/samples.ts';
import { signatureOf } from '../../../events/signing.ts';
import { queueUrlVariable } from '../../../lambda/events/event-names.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { SECRET_FIRST_READ_INTERVAL, WARM_UP_LIMIT } from '../../../lambda/limits.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { TEST_SECRET } from '../../support/partner.ts';
import { Queues } from '../../support/queues.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { captureInTests, FunctionLines } from '../function-lines.ts';

const RECEIVED_AT = Date.parse('2026-01-31T09:00:00Z');
const event = { event: 'shop.updated', data: { shop_id: 's' }, timestamp: '2026-01-31T08:59:00Z' };
const before = { ...process.env };
const faults = new InjectedFaults();
const lines = new FunctionLines();

let aws: TestAws;
let queues: Queues;
let starts = 0;
beforeAll(async () => {
  aws = await startTestAws(faults);
  queues = new Queues(aws.operator);
  Object.assign(process.env, functionEnvironment('receiver', aws), {
    AWS_LAMBDA_FUNCTION_VERSION: '1',
  });
});
captureInTests(lines, faults);
beforeEach(() => rotate(TEST_SECRET));
afterAll(async () => {
  process.env = before;
  await aws.close();
});

const rotate = (SecretString: string) =>
  new SecretsManagerClient(aws.operator).send(
    new PutSecretValueCommand({ SecretId: aws.outputs.WebhookSecretArn, SecretString }),
  );

interface DeliveryOptions {
  readonly secret?: string;
  readonly signature?: string;
  readonly payload?: object;
  readonly requestId?: string;
}

/**
 * Starts a new instance of the function.
 * @returns a function that returns the status for a delivery
 */
async function start(): Promise<(delivery?: DeliveryOptions) => Promise<number | undefined>> {
  starts += 1;
  const { handler } = (await import(`../../../lambda/receiver/handler.ts?start=${starts}`)) as {
    handler(event: unknown, context: Context): Promise<APIGatewayProxyStructuredResultV2>;
  };
  return async (delivery = {}) => {
    const { statusCode, headers, body = '' } = await handler(request(delivery), {} as Context);
    if (statusCode === 500) {
      expect({ ...headers, ...JSON.parse(body) }).toEqual(SERVER_ERROR);
    }
    return statusCode;
  };
}

/** Shows nothing of the error. */
const SERVER_ERROR = {
  'content-type': 'application/problem+json',
  type: 'urn:partner-webhooks:problem:server-error',
  title: 'Server error',
  status: 500,
  detail: 'The event was not accepted. Send it again.',
  requestId: expect.any(String),
};

function request({
  secret = TEST_SECRET,
  payload = event,
  requestId = 'request-1',
  signature,
}: DeliveryOptions) {
  const body = JSON.stringify(payload);
  return requestOf(body, signature ?? signatureOf({ body: Buffer.from(body), secret }), requestId);
}

const requestOf = (body: string, signature: string, requestId: string, isBase64Encoded = false) =>
  httpApiEvent(
    {
      method: 'POST',
      path: '/api/v1/webhooks/partner',
      headers: [['x-webhook-signature', signature]],
      body,
      isBase64Encoded,
      sourceIp: '192.0.2.1',
      receivedAt: new Date(RECEIVED_AT),
      requestId,
    },
    'api',
  );

const breakSecrets = (kind: 'down' | 'slow', milliseconds = 0) =>
  faults.inject({ service: 'secretsmanager', kind, callers: 'everyone', milliseconds });

const published = () => lines.metrics.map(({ name, dimensions }) => ({ name, ...dimensions }));
const service = 'receiver';

describe('a start', () => {
  test('reads both versions of the secret before the first request', async () => {
    await rotate('next');
    const answer = await start();
    breakSecrets('down');
    const statuses = [];
    for (const secret of ['next', TEST_SECRET, 'wrong']) statuses.push(await answer({ secret }));
    expect(statuses).toEqual([200, 200, 401]);
  });

  test('succeeds while AWS is down: the first request gets 500, and one a second later tries again', async () => {
    breakSecrets('down');
    faults.inject({ service: 'sqs', kind: 'down', callers: 'everyone' });
    const clock = jest.spyOn(Date, 'now');
    const answer = await start();
    expect(await answer()).toBe(500);
    faults.clear();
    clock.mockReturnValue(Date.now() + SECRET_FIRST_READ_INTERVAL);
    expect(await answer()).toBe(200);
  });

  test('waits at most a second for a call that hangs, and the first request reads by itself', async () => {
    breakSecrets('slow', 5 * WARM_UP_LIMIT);
    const before = faults.counts.slow;
    const answer = await start();
    // The first attempt for each version of the secret. Without the limit, the start would wait for the second, too.
    expect(faults.counts.slow - before).toBe(2);
    faults.clear();
    expect(await answer()).toBe(200);
  });
});

describe('a delivery is logged with its ids, and problems are counted:', () => {
  const timestamp = new Date(RECEIVED_AT + 60_000).toISOString();
  const unknown = { ...event, event: 'example.unknown' };
  const unusable = { ...event, data: {} };

  test.each<[string, object, object, metric: string | undefined]>([
    ['accepted', event, { message: 'Accepted', lagMs: 60_000 }, undefined],
    [
      'of a partner whose clock is ahead',
      { ...event, timestamp },
      { message: 'Accepted', lagMs: 0 },
      undefined,
    ],
    ['of an unknown kind', unknown, { message: 'Parked', level: 'INFO' }, 'Parked'],
    ['unusable', unusable, { message: 'Unusable', level: 'INFO', fields: ['data.shop_id'] }, 'Unusable'],
  ])('%s', async (_, payload, expected, metric) => {
    const answer = await start();
    await answer({ payload });
    const eventId = sha256Hex(JSON.stringify(payload));
    expect(lines.logged).toEqual([expect.objectContaining({ ...expected, eventId, requestId: 'request-1' })]);
    expect(published()).toEqual(metric ? [{ name: metric, service }] : []);
  });

  test.each([
    ['wrong-signature', 'f'.repeat(64)],
    ['malformed-signature', 'none'],
  ])('with a %s, before the answer: Lambda then freezes the function', async (reason, signature) => {
    const answer = await start();
    expect(await answer({ signature })).toBe(401);
    expect(lines.logged).toEqual([
      expect.objectContaining({ message: 'Rejected', level: 'WARN', reason, sourceIp: '192.0.2.1' }),
    ]);
    expect(published()).toEqual([{ name: 'Rejected', service, reason }]);
  });

  test('that could not be stored because of an outage, for which no version is rolled back', async () => {
    const answer = await start();
    faults.inject({ service: 'sqs', kind: 'throttled', callers: 'everyone' });
    expect(await answer()).toBe(500);
    expect(lines.logged).toEqual([
      expect.objectContaining({ message: 'ServerError', level: 'ERROR', call: 'SQS SendMessage' }),
    ]);
    expect(published()).toEqual([{ name: 'ServerError', service }]);
  });

  test('that cannot be verified because the stored secret is unusable, for which no version is rolled back', async () => {
    await rotate(' ');
    const answer = await start();
    expect(await answer()).toBe(500);
    expect(published().map(({ name }) => name)).toEqual(['SecretUnreadable', 'ServerError']);
  });

  test('unless it is a probe of the smoke test, which no alarm may see', async () => {
    await rotate(' ');
    const answer = await start();
    expect(await answer({ requestId: 'smoke-test-1' })).toBe(500);
    expect(published()).toEqual([]);
  });

  test('that could not be stored because of a fault of the version', async () => {
    const variable = queueUrlVariable('shop.updated');
    const url = process.env[variable];
    process.env[variable] = `${url}-that-is-missing`;
    const answer = await start();
    process.env[variable] = url;
    expect(await answer()).toBe(500);
    expect(published()).toEqual([
      { name: 'ServerError', service },
      { name: 'VersionError', service, version: '1' },
    ]);
  });
});

test('an event of a kind that the stage ignores is counted, and not stored; another one is parked', async () => {
  process.env.IGNORED_EVENTS = '["menu.updated"]';
  const answer = await start();
  delete process.env.IGNORED_EVENTS;
  await queues.takeAll(aws.outputs.UnroutedQueueUrl);
  expect(await answer({ payload: { ...event, event: 'menu.updated' } })).toBe(200);
  expect(lines.logged).toEqual([expect.objectContaining({ message: 'Ignored', requestId: 'request-1' })]);
  expect(published()).toEqual([{ name: 'Ignored', service }]);
  expect(await queues.takeAll(aws.outputs.UnroutedQueueUrl)).toEqual([]);
  await answer({ payload: { ...event, event: 'menu.created' } });
  expect(await queues.takeAll(aws.outputs.UnroutedQueueUrl)).toHaveLength(1);
});

describe('any request', () => {
  // Earlier tests have left deliveries.
  beforeAll(async () => {
    const { QueueUrls = [] } = await queues.client.send(new ListQueuesCommand({}));
    for (const url of QueueUrls) await queues.takeAll(url);
  });

  const PERSONAL = 'personal-';

  /** A body, and the queue on which the decisions want it. A damaged body may also be in quarantine. */
  interface Delivery {
    readonly bytes: Buffer;
    readonly due: string;
  }

  const personal = fc.string({ unit: anyCharacter, maxLength: 20 }).map((text) => PERSONAL + text);

  /** The sample of an event with other texts and unknown fields, which decision D10 keeps. */
  const usable: fc.Arbitrary<Delivery> = fc
    .record({
      sample: fc.constantFrom(...readSamples()),
      id: personal,
      more: fc.dictionary(personal, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
      spaces: fc.nat(2),
    })
    .map(({ sample: { event, payload }, id, more, spaces }) => {
      const known = payload.data as Record<string, unknown>;
      const data = { ...more, ...known };
      for (const field of Object.keys(known)) if (field.endsWith('_id')) Object.assign(data, { [field]: id });
      const bytes = Buffer.from(JSON.stringify({ ...more, ...payload, data }, null, spaces));
      return { bytes, due: queueUrlVariable(event) };
    });

  const unknown: fc.Arbitrary<Delivery> = personal.map((event) => ({
    bytes: Buffer.from(JSON.stringify({ event, data: {}, timestamp: '2026-01-31T09:00:00Z' })),
    due: 'UNROUTED_QUEUE_URL',
  }));

  const unusable: fc.Arbitrary<Delivery> = fc
    .oneof(
      // Not UTF-8.
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([bytes, Buffer.of(0xff)])),
      usable.chain(({ bytes }) => fc.nat(bytes.length - 1).map((end) => bytes.subarray(0, end))),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify({ event: 'shop.updated', data: value }))),
    )
    .map((bytes) => ({ bytes, due: 'QUARANTINE_QUEUE_URL' }));

  const sign = (bytes: Uint8Array, secret = TEST_SECRET) =>
    createHmac('sha256', secret).update(bytes).digest();

  type Sign = (bytes: Buffer) => string;

  /** Right spellings of a signature (decision D1), and wrong signatures. */
  const right = fc.constantFrom<Sign[]>(
    (bytes) => sign(bytes).toString('hex'),
    (bytes) => sign(bytes).toString('hex').toUpperCase(),
    (bytes) => `sha256=${sign(bytes).toString('base64')}`,
    (bytes) => sign(bytes).toString('base64url'),
  );
  const wrong = fc.oneof(
    fc.constantFrom<Sign[]>(
      (bytes) => sign(bytes, `${TEST_SECRET} `).toString('hex'),
      (bytes) => sign(Buffer.concat([bytes, Buffer.from('\n')])).toString('hex'),
      (bytes) => sign(bytes).toString('hex').slice(1),
      (bytes) => `"${sign(bytes).toString('hex')}"`,
    ),
    fc.string({ unit: anyCharacter, maxLength: 70 }).map(
      (text): Sign =>
        () =>
          text,
    ),
  );
  const signature = fc.oneof(
    right.map((of) => ({ of, isRight: true })),
    wrong.map((of) => ({ of, isRight: false })),
  );

  /** Everything on a queue, as the bytes that were sent. */
  async function takeBytes(queueUrl: string | undefined, isQuarantine: boolean): Promise<Buffer[]> {
    const messages = await queues.takeAll(queueUrl);
    return messages.map(({ Body = '' }) =>
      isQuarantine ? Buffer.from(JSON.parse(Body).bodyBase64, 'base64') : Buffer.from(Body),
    );
  }

  /** The answer of an instance to a request from an HTTP API. */
  async function answerTo(bytes: Buffer, value: string, isText: boolean) {
    const { handler } = await import('../../../lambda/receiver/handler.ts');
    const event = requestOf(bytes.toString(isText ? 'utf8' : 'base64'), value, randomUUID(), !isText);
    return (await handler(
      event as APIGatewayProxyEventV2,
      {} as Context,
    )) as APIGatewayProxyStructuredResultV2;
  }

  test.each([
    ['usable', usable, 200],
    ['of an unknown kind', unknown, 200],
    ['unusable', unusable, 400],
  ] as const)(
    'a signed delivery that is %s is kept once, byte for byte; one that is not signed is kept nowhere',
    async (_, deliveries, status) => {
      const property = fc.asyncProperty(
        deliveries,
        signature,
        fc.boolean(),
        async ({ bytes, due }, signed, asText) => {
          const isText = asText && bytes.equals(Buffer.from(bytes.toString()));
          const answer = await answerTo(bytes, signed.of(bytes), isText);
          expect(answer.statusCode).toBe(signed.isRight ? status : 401);
          expect(answer.body).not.toContain(PERSONAL);
          const kept = await takeBytes(process.env[due], status === 400);
          // SQS does not store U+FFFE and U+FFFF. In JSON, their escapes mean the same (decision 5).
          const escaped = bytes.toString().replaceAll('\ufffe', '\\ufffe').replaceAll('\uffff', '\\uffff');
          const expected = status === 400 ? bytes : Buffer.from(escaped);
          expect(kept.map((one) => one.toString('base64'))).toEqual(
            signed.isRight ? [expected.toString('base64')] : [],
          );
        },
      );
      await fc.assert(property, { numRuns: 40 });
      const { QueueUrls = [] } = await queues.client.send(new ListQueuesCommand({}));
      const left = await Promise.all(QueueUrls.map((url) => queues.count(url)));
      expect(new Set(left)).toEqual(new Set([0]));
    },
  );

  const written = (name: string, data: string) =>
    `{"event":"${name}","data":${data},"timestamp":"2026-01-31T09:00:00Z"}`;
  const deep = `${'['.repeat(4e5)}${']'.repeat(4e5)}`;

  test.each([
    ['deep nesting', 200, written('girl.created', `{"girl_id":"g","x":${deep}}`)],
    [
      'a long list of wrong entries',
      400,
      written('shop.updated', `{"shop_id":"s","updated_fields":[${'1,'.repeat(1e6)}1]}`),
    ],
    ['an id of control characters', 200, written('shop.updated', '{"shop_id":"\\u0000\\u0007"}')],
    ['a long id', 200, written('shop.updated', `{"shop_id":"${'x'.repeat(10_000)}"}`)],
    ['NUL bytes', 400, '\0'.repeat(100)],
    ['compressed data', 400, gzipSync(written('shop.updated', '{"shop_id":"s"}'))],
  ])('a hostile body of %s gets %d', async (_, status, body) => {
    const bytes = Buffer.from(body);
    expect((await answerTo(bytes, sign(bytes).toString('hex'), false)).statusCode).toBe(status);
  });
});
