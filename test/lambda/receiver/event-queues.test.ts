import { type SendMessageCommandInput, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { parsePayload } from '../../../lambda/events/envelope.ts';
import { sha256Hex } from '../../../lambda/hash.ts';
import { EventQueues, queueUrlsFromEnvironment } from '../../../lambda/receiver/event-queues.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const TRACE = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';
const LARGE = 'x'.repeat(1_000_000);

const timestamp = '2026-01-31T09:00:00Z';
const event = { event: 'shop.updated', data: { shop_id: 'shop-1' }, timestamp };
const unknown = { ...event, event: 'example.unknown' };
const unusable = { ...event, timestamp: 1 };
const problem = {
  field: 'timestamp',
  detail: 'must be an existing date and time in UTC, written as 2026-01-31T09:00:00Z or 20260131T090000Z',
};
const reason = `${problem.field} ${problem.detail}`;

let aws: TestAws;
let getPayload: (key: string) => Promise<Uint8Array>;
beforeAll(async () => {
  aws = await startTestAws();
  Object.assign(process.env, functionEnvironment('receiver', aws));
  ({ getPayload } = await import('../../../lambda/queue/payload-store.ts'));
});
afterEach(() => {
  delete process.env._X_AMZN_TRACE_ID;
});
afterAll(() => aws.close());

/**
 * Stores a delivery at the real endpoint.
 * @returns the parameters of the call, which SQS does not return completely
 */
async function sent(payload: object, eventId = 'e-1', requestId = 'r-1'): Promise<SendMessageCommandInput> {
  const client = new SQSClient(aws.operator);
  const inputs: SendMessageCommandInput[] = [];
  client.middlewareStack.add((next) => async (args) => {
    inputs.push(args.input as SendMessageCommandInput);
    return next(args);
  });
  const queues = new EventQueues(client, queueUrlsFromEnvironment());
  const body = Buffer.from(JSON.stringify(payload));
  const parsed = parsePayload(body);
  const delivery = { eventId, receivedAt: '2026-01-31T09:00:00.000Z', requestId };
  if (parsed.kind === 'unusable') await queues.quarantine(body, parsed.problems, delivery);
  else await queues.enqueue(parsed, body, delivery);
  expect(inputs).toHaveLength(1);
  return inputs[0] as SendMessageCommandInput;
}

const text = (StringValue: string) => ({ DataType: 'String', StringValue });
const attributes = (name: string, eventId = 'e-1') => ({
  event: text(name),
  eventId: text(eventId),
  receivedAt: text('2026-01-31T09:00:00.000Z'),
  requestId: text('r-1'),
});

describe('a delivery is sent', () => {
  test('to the queue of its event, with the partner’s text and the attributes', async () => {
    expect(await sent(event)).toEqual({
      QueueUrl: process.env.QUEUE_URL_SHOP_UPDATED,
      MessageBody: JSON.stringify(event),
      MessageGroupId: 'shop-1',
      MessageAttributes: attributes('shop.updated'),
    });
  });

  test('to the unrouted queue if its kind is unknown', async () => {
    expect(await sent(unknown)).toEqual({
      QueueUrl: process.env.UNROUTED_QUEUE_URL,
      MessageBody: JSON.stringify(unknown),
      MessageGroupId: 'shop-1',
      MessageAttributes: attributes('example.unknown'),
    });
  });

  test('to quarantine if it is unusable, with its bytes and the reason', async () => {
    expect(await sent(unusable)).toEqual({
      QueueUrl: process.env.QUARANTINE_QUEUE_URL,
      MessageBody: JSON.stringify({
        problems: [problem],
        bodyBase64: Buffer.from(JSON.stringify(unusable)).toString('base64'),
      }),
      MessageAttributes: { ...attributes('unusable'), reason: text(reason) },
    });
  });

  test.each([event, unknown, unusable])(
    'to a queue that nothing reads if the smoke test sent it: %j',
    async (payload) => {
      expect(await sent(payload, 'e-1', 'smoke-test-1')).toMatchObject({
        QueueUrl: process.env.SMOKE_TEST_QUEUE_URL,
      });
    },
  );
});

describe('a delivery that is too large for a message is in the payload bucket, byte for byte', () => {
  test.each([
    { payload: { ...event, note: LARGE }, name: 'shop.updated', folder: 'shop.updated' },
    { payload: { ...unknown, note: LARGE }, name: 'example.unknown', folder: 'unrouted' },
  ])('$name', async ({ payload, name, folder }) => {
    const eventId = sha256Hex(name);
    const payloadKey = `${folder}/${eventId}`;
    expect(await sent(payload, eventId)).toMatchObject({
      MessageBody: JSON.stringify({ payloadKey }),
      MessageAttributes: { ...attributes(name, eventId), payloadKey: text(payloadKey) },
    });
    expect(Buffer.from(await getPayload(payloadKey)).toString()).toBe(JSON.stringify(payload));
  });

  test('the message of an unusable one contains the problems', async () => {
    const payload = { ...unusable, note: LARGE };
    const payloadKey = 'quarantine/e-2';
    expect(await sent(payload, 'e-2')).toMatchObject({
      MessageBody: JSON.stringify({ problems: [problem], payloadKey }),
      MessageAttributes: {
        ...attributes('unusable', 'e-2'),
        reason: text(reason),
        payloadKey: text(payloadKey),
      },
    });
    expect(Buffer.from(await getPayload(payloadKey)).toString()).toBe(JSON.stringify(payload));
  });
});

test('an event without a shop is in no message group', async () => {
  expect(await sent({ event: 'review.posted', data: {}, timestamp })).toMatchObject({
    MessageGroupId: undefined,
  });
});

test.each([
  { name: 'event', payload: event },
  { name: 'event of an unknown kind', payload: unknown },
  { name: 'unusable payload', payload: unusable },
])('an $name carries the trace of its invocation', async ({ payload }) => {
  process.env._X_AMZN_TRACE_ID = TRACE;
  expect((await sent(payload)).MessageSystemAttributes).toEqual({ AWSTraceHeader: text(TRACE) });
});

test('the environment names a queue for each event; otherwise all missing ones are reported', () => {
  const { events, unrouted, quarantine } = queueUrlsFromEnvironment();
  expect(Object.keys(events)).toEqual(eventNames);
  expect(new Set([...Object.values(events), unrouted, quarantine]).size).toBe(eventNames.length + 2);
  const { UNROUTED_QUEUE_URL, QUARANTINE_QUEUE_URL } = process.env;
  try {
    delete process.env.UNROUTED_QUEUE_URL;
    process.env.QUARANTINE_QUEUE_URL = '';
    expect(queueUrlsFromEnvironment).toThrow(
      'Missing environment variables: UNROUTED_QUEUE_URL, QUARANTINE_QUEUE_URL',
    );
  } finally {
    Object.assign(process.env, { UNROUTED_QUEUE_URL, QUARANTINE_QUEUE_URL });
  }
});
