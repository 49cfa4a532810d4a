import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SHOWN_CHARACTERS } from '../../../tools/console/server/queue-messages.ts';
import { DEAD, Operator, shopUpdated } from '../stage/queues/support.ts';
import { startTestConsole, type TestConsole } from './support.ts';

let running: TestConsole;
let operator: Operator;
let dead: string | undefined;

beforeAll(async () => {
  running = await startTestConsole();
  operator = await Operator.create(running.stack);
  dead = operator.outputs.ShopUpdatedDeadLetterQueueUrl;
});
afterAll(async () => {
  await operator.close();
  await running[Symbol.asyncDispose]();
});
beforeEach(() => operator.empty());

const look = (name: string, query = '') => running.api.get(`/api/queues/${name}/messages${query}`);

/** Puts a dead letter. @returns its id */
const bury = (reason: string, failedAt: string, url = dead) =>
  operator.put(url, shopUpdated('shop-1'), { ...DEAD, failureReason: reason, failedAt });

test('every queue tells how many messages it has, and when the oldest was sent', async () => {
  const before = Date.now() - 1_000;
  await bury('The table was away', DEAD.failedAt);
  await bury('The table was away', DEAD.failedAt);
  await operator.put(operator.outputs.UnroutedQueueUrl, '{}', { event: 'example.unknown' });
  const { status, body } = await running.api.get('/api/queues');
  expect(status).toBe(200);
  const { events, receiverQueues, problems } = body;
  const shop = events.find(({ event }: { event: string }) => event === 'shop.updated');
  expect(shop).toMatchObject({ visible: 0, inFlight: 0, dead: { visible: 2, inFlight: 0 } });
  expect(Date.parse(shop.dead.oldestAt)).toBeGreaterThan(before);
  expect(shop).not.toHaveProperty('oldestAt');
  expect(receiverQueues).toEqual([
    { name: 'quarantine', visible: 0, inFlight: 0 },
    { name: 'unrouted', visible: 1, inFlight: 0, oldestAt: expect.any(String) },
  ]);
  expect(problems).toEqual([]);
  expect(body).not.toHaveProperty('pausesUnknown');
});

describe('a look into a queue', () => {
  test('receives nothing, however often', async () => {
    const id = await bury('The table was away', DEAD.failedAt);
    for (const receives of [0, 0]) {
      const { body } = await look('dead:shop.updated');
      expect(body).toEqual({
        messages: [
          {
            id,
            eventId: DEAD.eventId,
            event: 'shop.updated',
            requestId: 'request-1',
            sentAt: expect.any(String),
            receives,
            state: 'waiting',
            reason: 'The table was away',
            body: shopUpdated('shop-1'),
            truncated: false,
          },
        ],
        limited: false,
      });
    }
  });

  test('shows what the partner sent of what is in quarantine, and cuts off what is long', async () => {
    const bodyBase64 = Buffer.from('é'.repeat(SHOWN_CHARACTERS + 1)).toString('base64');
    await operator.put(operator.outputs.QuarantineQueueUrl, JSON.stringify({ problems: [], bodyBase64 }), {
      reason: 'timestamp is missing',
    });
    const { body } = await look('quarantine');
    expect(body.messages).toMatchObject([
      { reason: 'timestamp is missing', body: 'é'.repeat(SHOWN_CHARACTERS), truncated: true },
    ]);
  });

  test('says whether there are more than it was to look at', async () => {
    await bury('one', DEAD.failedAt);
    await bury('two', DEAD.failedAt);
    expect((await look('dead:shop.updated', '?limit=1')).body).toMatchObject({
      messages: [{ reason: 'one' }],
      limited: true,
    });
    expect((await look('dead:shop.updated', '?limit=2')).body).toMatchObject({ limited: false });
  });

  test.each([
    ['/api/queues/dead:shop_updated/messages', 404],
    ['/api/queues/payments/messages', 404],
    ['/api/queues/quarantine/messages?limit=0', 400],
    ['/api/queues/quarantine/messages?limit=501', 400],
    ['/api/queues/quarantine/messages?page=2', 400],
    ['/api/queues?events=all', 400],
  ])('as %s is %d', async (path, status) => {
    expect(await running.api.get(path)).toMatchObject({ status, body: { status } });
  });
});

test('dead letters are grouped by reason over all queues, with the first and the last failure', async () => {
  const girls = operator.outputs.GirlCreatedDeadLetterQueueUrl;
  await bury('Timeout', '2026-01-31T12:00:00.000Z');
  const other = await bury('Timeout', '2026-01-31T10:00:00.000Z', girls);
  await bury('Not usable', '2026-01-31T11:00:00.000Z');
  await operator.put(dead, '{}');
  const { body } = await running.api.get('/api/dead-letters');
  expect(body).toMatchObject({ limited: [], problems: [] });
  const [most, ...others] = body.groups;
  expect(most).toMatchObject({
    reason: 'Timeout',
    count: 2,
    firstAt: '2026-01-31T10:00:00.000Z',
    lastAt: '2026-01-31T12:00:00.000Z',
  });
  expect(most.messages).toContainEqual({ queue: 'girl.created', id: other, eventId: DEAD.eventId });
  expect(others.map(({ reason }: { reason: string }) => reason).sort()).toEqual([
    'Not usable',
    expect.stringMatching(/^SQS moved it after too many receives/),
  ]);
});
