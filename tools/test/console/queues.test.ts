import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEAD, type Operator, shopUpdated } from '../stage/queues/support.ts';
import { type StageConsole, startStageConsole, startTestConsole, type TestConsole } from './support.ts';

let running: TestConsole;
/** The console of the same stack, shown as a deployed stage. */
let stage: StageConsole;
let operator: Operator;

beforeAll(async () => {
  running = await startTestConsole();
  stage = await startStageConsole(running.stack);
  operator = stage.operator;
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await running[Symbol.asyncDispose]();
});
beforeEach(() => operator.empty());

const dead = () => operator.outputs.ShopUpdatedDeadLetterQueueUrl;

const read = () => running.api.get('/api/needs-you');

/**
 * Sends a message to a dead-letter queue.
 * @returns its id
 */
const sendDeadLetter = (change: Partial<typeof DEAD> = {}, url = dead()) =>
  operator.put(url, shopUpdated('shop-1'), { ...DEAD, ...change });

test('every queue has its number of messages, and the time of the oldest', async () => {
  const before = Date.now() - 1_000;
  await sendDeadLetter();
  await sendDeadLetter();
  await operator.put(operator.outputs.UnroutedQueueUrl, '{}', { event: 'example.unknown' });
  const { body } = await running.api.get('/api/queues');
  expect(body.queues.find(({ name }: { name: string }) => name === 'shop.updated')).toEqual({
    name: 'shop.updated',
    work: { visible: 0, inFlight: 0 },
    aside: { visible: 2, inFlight: 0, oldestAt: expect.any(String) },
  });
  expect(body.queues.slice(-2)).toEqual([
    { name: 'quarantine', aside: { visible: 0, inFlight: 0 } },
    { name: 'unrouted', aside: { visible: 1, inFlight: 0, oldestAt: expect.any(String) } },
  ]);
  for (const { aside } of body.queues) {
    if (aside.oldestAt) expect(Date.parse(aside.oldestAt)).toBeGreaterThan(before);
  }
  expect(body.problems).toEqual([]);
  expect(body).not.toHaveProperty('pausesUnknown');
});

describe('reading a queue of the local stack', () => {
  test('receives nothing, however often, and shows copies as one message', async () => {
    await sendDeadLetter();
    const id = await sendDeadLetter({ requestId: 'request-2' });
    await read();
    const { body } = await read();
    const { eventId, failureReason: reason } = DEAD;
    const queue = 'shop.updated';
    const shown = { id, queue, eventId, shopId: 'shop-1', requestId: 'request-2', reason };
    const times = { sentAt: expect.any(String), firstSentAt: expect.any(String) };
    const preview = expect.stringMatching(/^\{"shop_id":"shop-1"/);
    expect(body).toEqual({
      messages: [{ ...shown, preview, ...times, copies: 2 }],
      limited: [],
      problems: [],
    });
  });

  test('previews the bytes of a quarantined message, which may be anything', async () => {
    const bodyBase64 = Buffer.from('é'.repeat(1_000)).toString('base64');
    const text = JSON.stringify({ problems: [], bodyBase64 });
    const attributes = { event: 'unusable', reason: 'body must be JSON' };
    await operator.put(operator.outputs.QuarantineQueueUrl, text, attributes);
    const named = Buffer.from('{"event":"girl.created","data":{"shop_id":7}}').toString('base64');
    const usable = JSON.stringify({ problems: [], bodyBase64: named });
    await operator.put(operator.outputs.QuarantineQueueUrl, usable, { ...attributes, reason: 'no girl_id' });
    const { body } = await read();
    expect(body.messages).toMatchObject([
      { queue: 'quarantine', reason: 'body must be JSON', preview: 'é'.repeat(200) },
      { shopId: '7', reason: 'no girl_id', preview: '{"shop_id":7}' },
    ]);
  });
});

test.each([
  ['the local stack', () => running.api],
  ['a stage', () => stage.api],
])('a message has its whole payload, as the partner sent it: %s', async (_name, api) => {
  const bytes = Buffer.from([0xff, 0x00, 0x7b]);
  const wrapped = JSON.stringify({ problems: [], bodyBase64: bytes.toString('base64') });
  const quarantined = await operator.put(operator.outputs.QuarantineQueueUrl, wrapped);
  const long = shopUpdated('x'.repeat(100_000));
  const id = await operator.put(dead(), long, DEAD);
  const large = await operator.put(dead(), '{"payloadKey":"gone"}', { ...DEAD, payloadKey: 'gone' });
  const { body: listed } = await api().get('/api/needs-you');
  const invalid = await api().get(`/api/needs-you/${quarantined}/body`);
  expect(invalid.bytes).toEqual(bytes);
  expect(invalid.headers).toMatchObject({ 'content-type': 'application/octet-stream' });

  expect((await api().get(`/api/needs-you/${id}/body`)).bytes.toString()).toBe(long);

  const message = listed.messages.find((one: { id: string }) => one.id === large);
  expect(message).not.toHaveProperty('preview');
  const gone = { status: 404, body: { detail: 'S3 no longer has it under gone' } };
  expect(await api().get(`/api/needs-you/${large}/body`)).toMatchObject(gone);
  const unknown = { status: 404, body: { detail: expect.stringMatching(/^The last list does not have/) } };
  expect(await api().get('/api/needs-you/unknown/body')).toMatchObject(unknown);
});

test('of very many messages only the first are listed', async () => {
  for (let batch = 0; batch < 11; batch += 1)
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => sendDeadLetter({ eventId: `${batch}-${index}` })),
    );
  const { body } = await read();
  expect(body).toMatchObject({ limited: ['shop.updated'] });
  expect(body.messages).toHaveLength(500);
});

describe('the queues of a stage:', () => {
  test('reading dead letters returns the received messages', async () => {
    for (let count = 0; count < 12; count += 1) await sendDeadLetter({ eventId: `event-${count}` });
    const { body } = await stage.api.get('/api/needs-you');
    expect(body).toMatchObject({ limited: [] });
    expect(body.messages).toHaveLength(12);
    expect(body.messages[0]).toMatchObject({ queue: 'shop.updated', reason: DEAD.failureReason });
    const { Messages = [] } = await operator.queues.client.send(
      new ReceiveMessageCommand({ QueueUrl: dead(), MaxNumberOfMessages: 10, VisibilityTimeout: 0 }),
    );
    expect(Messages).toHaveLength(10);
  });

  test('simultaneous reads see the same messages', async () => {
    await sendDeadLetter();
    const answers = await Promise.all([1, 2, 3].map(() => stage.api.get('/api/needs-you')));
    expect(answers.map(({ body }) => body.messages.length)).toEqual([1, 1, 1]);
  });

  test('with --read-only their messages are counted, and not received', async () => {
    const id = await sendDeadLetter();
    await using reader = await startStageConsole(running.stack, { readOnly: true });
    const { status, body } = await reader.api.get('/api/needs-you');
    const detail = expect.stringMatching(/start the console without --read-only$/);
    expect({ status, detail: body.detail }).toEqual({ status: 403, detail });
    const { body: queues } = await reader.api.get('/api/queues');
    const counted = expect.objectContaining({ name: 'shop.updated', aside: { visible: 1, inFlight: 0 } });
    expect(queues.queues).toContainEqual(counted);
    const [message] = await running.stack.inspectQueue(dead() ?? '');
    expect(message).toMatchObject({ id, receives: 0 });
  });
});
