import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { attribute } from '../../../lambda/queue/message.ts';
import type { Exchange } from '../../../local/observation.ts';
import type { Delivery } from '../../../tools/console/api.ts';
import { Deliveries, MAXIMUM_DELIVERIES } from '../../../tools/console/deliveries.ts';
import type { LogLine } from '../../../tools/stage/history/log-line.ts';
import { at, consumed, EVENT_ID, failed, received, record, time } from '../stage/history/lines.ts';

const ID = 'request-1';

/** Something that is told of a delivery. */
type Told = (deliveries: Deliveries) => void;

const line =
  (told: LogLine): Told =>
  (deliveries) =>
    deliveries.addLine(told);

const archived =
  (...args: Parameters<typeof record>): Told =>
  (deliveries) =>
    deliveries.addRecord(record(...args).record);

function exchange(status: number, answer: object, given: Partial<Exchange> = {}): Told {
  return (deliveries) =>
    deliveries.addExchange({
      requestId: ID,
      receivedAt: new Date(time(0)),
      method: 'POST',
      path: '/api/v1/webhooks/partner',
      query: '',
      headers: [],
      sourceIp: '127.0.0.1',
      body: Buffer.from('{"event":"shop.updated","data":{"shop_id":"shop-1"}}'),
      status,
      responseHeaders: [],
      responseBody: Buffer.from(JSON.stringify(answer)),
      durationMilliseconds: 12,
      ...given,
    });
}

const accepted = exchange(200, { status: 'queued', eventId: EVENT_ID, requestId: ID });
const problem = (status: number, detail: string) =>
  exchange(status, { type: 'urn:x', title: 'X', status, detail });

function rowOf(...told: readonly Told[]): Delivery | undefined {
  const deliveries = new Deliveries();
  for (const tell of told) tell(deliveries);
  return deliveries.get(ID);
}

/** Histories of one delivery, and what its row says in the end. */
const HISTORIES: readonly [what: string, told: readonly Told[], row: Partial<Delivery>][] = [
  [
    'that the gateway has accepted',
    [accepted],
    { state: 'queued', status: 200, event: 'shop.updated', shopId: 'shop-1' },
  ],
  ['that is only logged yet', [line(received(1, 'Accepted'))], { state: 'queued', status: 200, attempts: 0 }],
  [
    'that had its effect',
    [
      accepted,
      line(received(1, 'Accepted')),
      line(consumed(2, 'Processed', { latencyMs: 1_500 })),
      archived(3),
    ],
    { state: 'processed', attempts: 1, latencyMs: 1_500, eventId: EVENT_ID, receivedAt: at(0) },
  ],
  [
    'that failed and is tried again',
    [accepted, line(received(1, 'Accepted')), line(failed(2, 1, 30)), line(failed(32, 2, 60))],
    { state: 'retrying', attempts: 2, error: 'Throttled' },
  ],
  [
    'that failed, and had its effect later',
    [accepted, line(failed(2, 1, 30)), line(consumed(32, 'Processed', { attempt: 2, latencyMs: 32_000 }))],
    { state: 'processed', attempts: 2 },
  ],
  [
    'that is a dead letter',
    [accepted, line(failed(2, 1, 30)), line(consumed(32, 'DeadLettered', { attempt: 2, error: 'Denied' }))],
    { state: 'dead', attempts: 2, error: 'Denied' },
  ],
  [
    'that was redriven, and waits',
    [
      accepted,
      line(consumed(2, 'DeadLettered', { error: 'Denied' })),
      (deliveries) => deliveries.addRedrive(ID, new Date(time(60))),
    ],
    { state: 'queued', attempts: 1, error: 'Denied' },
  ],
  [
    'that was redriven and is a dead letter again',
    [
      accepted,
      line(consumed(2, 'DeadLettered', { error: 'Denied' })),
      line(consumed(61, 'DeadLettered', { messageId: 'message-2', error: 'Denied again' })),
      // It is told once the move has ended.
      (deliveries) => deliveries.addRedrive(ID, new Date(time(60))),
    ],
    { state: 'dead', attempts: 2, error: 'Denied again' },
  ],
  [
    'that was redriven and had its effect',
    [
      accepted,
      line(consumed(2, 'DeadLettered', { error: 'Denied' })),
      line(consumed(61, 'Processed', { messageId: 'message-2', latencyMs: 61_000 })),
    ],
    { state: 'processed', attempts: 2 },
  ],
  [
    'that was replayed later',
    [
      accepted,
      line(consumed(2, 'Processed', { latencyMs: 2_000 })),
      line(consumed(9_000, 'Stale', { messageId: 'message-2', replay: 'replay-1' })),
    ],
    { state: 'stale', attempts: 2, latencyMs: 2_000 },
  ],
  [
    'of which the archive alone knows',
    [archived(3)],
    { state: 'processed', attempts: 1, status: 200, receivedAt: at(-0.5) },
  ],
  [
    'with a wrong signature',
    [problem(401, 'Wrong'), line(received(1, 'Rejected', { reason: 'wrong-signature' }))],
    { state: 'rejected', status: 401, attempts: 0, error: 'wrong-signature' },
  ],
  [
    'that is unusable',
    [problem(400, 'data.shop_id'), line(received(1, 'Unusable', { fields: ['data.shop_id'] }))],
    { state: 'unusable', status: 400, error: 'Unusable: data.shop_id' },
  ],
  [
    'that was not made safe',
    [problem(500, 'Send it again'), line(received(1, 'ServerError', { error: 'Throttled' }))],
    { state: 'failed', status: 500, error: 'Throttled' },
  ],
  [
    'of a kind that nobody knows',
    [exchange(200, { status: 'parked', eventId: EVENT_ID }), line(received(1, 'Parked'))],
    { state: 'parked', status: 200 },
  ],
  [
    'that is too large',
    [exchange(413, { message: 'Too large' }, { body: undefined })],
    { state: 'refused', status: 413, error: 'Too large' },
  ],
  [
    'of which the function died',
    [exchange(500, { message: 'Internal Server Error' })],
    { state: 'failed', status: 500 },
  ],
  [
    'that came to its queue though its answer was lost',
    [exchange(503, { message: 'Service Unavailable' }), line(received(1, 'Accepted'))],
    { state: 'queued', status: 503 },
  ],
  [
    'of a smoke test',
    [(deliveries) => deliveries.addLine(received(1, 'Rejected', { requestId: 'smoke-test-1' })), accepted],
    { state: 'queued' },
  ],
];

describe('the row of a delivery', () => {
  test.each(HISTORIES)('%s', (_, told, row) => {
    expect(rowOf(...told)).toMatchObject({ id: ID, ...row });
  });

  test.each(HISTORIES)('%s is the same in whatever order it is told, and however often', (_, told) => {
    const expected = rowOf(...told);
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...told, ...told], { minLength: told.length * 2, maxLength: told.length * 2 }),
        (shuffled) => {
          expect(rowOf(...shuffled)).toEqual(expected);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('is the same for lines of one millisecond in whatever order', () => {
    const lines = [
      received(1, 'Accepted'),
      failed(1, 1, 0),
      consumed(1, 'Processed', { attempt: 2, latencyMs: 1 }),
      consumed(1, 'Duplicate', { messageId: 'message-2' }),
      consumed(1, 'DeadLettered', { messageId: 'message-3', error: 'Denied' }),
    ].map(line);
    const expected = rowOf(...lines);
    fc.assert(
      fc.property(fc.shuffledSubarray(lines, { minLength: lines.length }), (shuffled) => {
        expect(rowOf(...shuffled)).toEqual(expected);
      }),
    );
  });

  test('says of a smoke test that it is one', () => {
    const deliveries = new Deliveries();
    deliveries.addLine(received(1, 'Rejected', { requestId: 'smoke-test-1', reason: 'wrong-signature' }));
    expect(deliveries.get('smoke-test-1')).toMatchObject({ smokeTest: true, state: 'rejected' });
  });

  test.each<[what: string, body: string, event: string | undefined, shopId: string | undefined]>([
    ['a number as its shop', '{"event":"e","data":{"shop_id":7}}', 'e', '7'],
    ['no object', '["event"]', undefined, undefined],
    ['no JSON', '{"event":"e"', undefined, undefined],
    ['other types', '{"event":7,"data":{"shop_id":{}}}', undefined, undefined],
    ['10,000 levels', `{"event":"e","data":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'e', undefined],
    ['5 MB', `{"event":"e","data":{"shop_id":"shop-\\u0031","x":"${'x'.repeat(5_000_000)}"}}`, 'e', 'shop-1'],
    ['5 MB of nothing', 'x'.repeat(5_000_000), undefined, undefined],
  ])('tells kind and shop of a payload with %s, as far as they can be seen', (_, body, event, shopId) => {
    const told = exchange(400, { type: 'urn:x' }, { body: Buffer.from(body) });
    const row = rowOf(told);
    expect({ event: row?.event, shopId: row?.shopId }).toEqual({ event, shopId });
  });
});

describe('changes', () => {
  const one = (id: string, seconds = 0) => received(seconds, 'Accepted', { requestId: id });

  test('are numbered, and told of once where a row differs', () => {
    const deliveries = new Deliveries();
    const told: string[] = [];
    const end = deliveries.subscribe((id) => told.push(id));
    deliveries.addLine(one('a'));
    deliveries.addLine(one('a'));
    deliveries.addLine(one('b'));
    deliveries.addLine(failed(1, 1, 30, { requestId: 'a' }));
    end();
    deliveries.addLine(one('c'));
    expect(told).toEqual(['a', 'b', 'a']);
    expect(deliveries.changedSince(0)?.map(({ id, sequence }) => [id, sequence])).toEqual([
      ['b', 2],
      ['a', 3],
      ['c', 4],
    ]);
    expect(deliveries.changedSince(3)?.map(({ id }) => id)).toEqual(['c']);
    expect(deliveries.changedSince(5)).toBeUndefined();
  });

  test('of more deliveries than are kept let the oldest go, which is told', () => {
    const deliveries = new Deliveries();
    const gone: string[] = [];
    deliveries.onGone = (id) => gone.push(id);
    // The oldest come last.
    for (let index = MAXIMUM_DELIVERIES; index >= 0; index -= 1) deliveries.addLine(one(`r${index}`, index));
    expect(deliveries.size).toBeLessThanOrEqual(MAXIMUM_DELIVERIES);
    expect(gone.slice(0, 3)).toEqual(['r0', 'r1', 'r2']);
    expect(deliveries.get('r0')).toBeUndefined();
    const changes = deliveries.changedSince(MAXIMUM_DELIVERIES) ?? [];
    expect(changes.filter(({ delivery }) => delivery === undefined).map(({ id }) => id)).toEqual(gone);
  });

  test('list the newest first', () => {
    const deliveries = new Deliveries();
    for (const seconds of [2, 3, 1]) deliveries.addLine(one(`r${seconds}`, seconds));
    expect(deliveries.list({}, () => false).map(({ id }) => id)).toEqual(['r3', 'r2', 'r1']);
  });
});

test('a message that no request brought is no delivery', () => {
  const deliveries = new Deliveries();
  deliveries.addLine(consumed(1, 'Processed', { [attribute.requestId]: undefined }));
  expect(deliveries.size).toBe(0);
});
