import { type SendMessageCommandInput, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
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
async function sent(payload: object, eventId = 'e-1'): Promise<SendMessageCommandInput> {
  const client = new SQSClient(aws.operator);
  const inputs: SendMessageCommandInput[] = [];
  client.middlewareStack.add((next) => async (args) => {
    inputs.push(args.input as SendMessageCommandInput);
    return next(args);
  });
  const queues = new EventQueues(client, queueUrlsFromEnvironment());
  const body = Buffer.from(JSON.stringify(payload));
  const parsed = parsePayload(body);
  const delivery = { eventId, receivedAt: '2026-01-31T09:00:00.000Z', requestId: 'r-1' };
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

const unusableAttributes = { ...attributes('unusable'), reason: text(reason) };

test.each([
  {
    what: 'an event',
    payload: event,
    queue: 'QUEUE_URL_SHOP_UPDATED',
    expected: { MessageBody: JSON.stringify(event), MessageAttributes: attributes('shop.updated') },
  },
  {
    what: 'an unknown kind',
    payload: unknown,
    queue: 'UNROUTED_QUEUE_URL',
    expected: { MessageBody: JSON.stringify(unknown), MessageAttributes: attributes('example.unknown') },
  },
  {
    what: 'an unusable payload',
    payload: unusable,
    queue: 'QUARANTINE_QUEUE_URL',
    expected: {
      MessageBody: JSON.stringify({
        problems: [problem],
        bodyBase64: Buffer.from(JSON.stringify(unusable)).toString('base64'),
      }),
      MessageAttributes: unusableAttributes,
    },
  },
])(
  '$what is sent to its queue with its attributes and the trace of its invocation',
  async ({ payload, queue, expected }) => {
    process.env._X_AMZN_TRACE_ID = TRACE;
    expect(await sent(payload)).toEqual({
      QueueUrl: process.env[queue],
      ...(payload !== unusable && { MessageGroupId: 'shop-1' }),
      MessageSystemAttributes: { AWSTraceHeader: text(TRACE) },
      ...expected,
    });
  },
);

test.each([
  { payload: { ...event, note: LARGE }, name: 'shop.updated', folder: 'shop.updated' },
  { payload: { ...unknown, note: LARGE }, name: 'example.unknown', folder: 'unrouted' },
  { payload: { ...unusable, note: LARGE }, name: 'unusable', folder: 'quarantine' },
])(
  'a delivery that is too large for a message is in the payload bucket, byte for byte: $name',
  async ({ payload, name, folder }) => {
    const isUnusable = name === 'unusable';
    const payloadKey = `${folder}/${sha256Hex(name)}`;
    expect(await sent(payload, sha256Hex(name))).toMatchObject({
      MessageBody: JSON.stringify({ ...(isUnusable && { problems: [problem] }), payloadKey }),
      MessageAttributes: {
        ...attributes(name, sha256Hex(name)),
        ...(isUnusable && { reason: text(reason) }),
        payloadKey: text(payloadKey),
      },
    });
    expect(Buffer.from(await getPayload(payloadKey)).toString()).toBe(JSON.stringify(payload));
  },
);
