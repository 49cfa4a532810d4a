import { expect, test } from '@jest/globals';
import { copyKey, groupCopies } from '../../../stage/queues/copies.ts';
import { DEAD, shopUpdated } from './support.ts';

const QUARANTINE = { name: 'quarantine', kind: 'quarantine' } as const;
const UNROUTED = { name: 'unrouted', kind: 'unrouted' } as const;
const DEAD_LETTERS = { name: 'shop.updated', kind: 'dead-letter' } as const;

const key = (
  queue: Parameters<typeof copyKey>[0],
  body: object,
  attributes: Readonly<Record<string, string>>,
) =>
  copyKey(queue, {
    body: JSON.stringify(body),
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
    ),
  });

const other = {
  receivedAt: '2026-02-01T09:00:00.000Z',
  requestId: 'request-2',
  failureReason: 'Timeout',
  failedAt: '2026-02-01T12:00:00.000Z',
};

test.each([
  {
    what: 'dead letters of two deliveries',
    queue: DEAD_LETTERS,
    one: { body: {}, attributes: DEAD },
    two: { body: {}, attributes: { ...DEAD, ...other } },
  },
  {
    what: 'quarantined bytes with other problems',
    queue: QUARANTINE,
    one: { body: { problems: [], bodyBase64: '/w==' }, attributes: { ...DEAD, reason: 'one' } },
    two: { body: { problems: ['new'], bodyBase64: '/w==' }, attributes: { ...DEAD, reason: 'two' } },
  },
  {
    what: 'quarantined bytes in S3 with other problems',
    queue: QUARANTINE,
    one: { body: { problems: [], payloadKey: 'quarantine/a' }, attributes: { payloadKey: 'quarantine/a' } },
    two: {
      body: { problems: ['new'], payloadKey: 'quarantine/a' },
      attributes: { payloadKey: 'quarantine/a' },
    },
  },
])('copies: $what', ({ queue, one, two }) => {
  expect(key(queue, one.body, one.attributes)).toBe(key(queue, two.body, two.attributes));
});

const shop = JSON.parse(shopUpdated('shop-1'));

test.each([
  { what: 'other bytes under the same event id', body: JSON.parse(shopUpdated('shop-2')), attributes: DEAD },
  {
    what: 'the message of a replay',
    body: shop,
    attributes: { ...DEAD, replay: '{"name":"a","mode":"fill"}' },
  },
  { what: 'another event kind', body: shop, attributes: { ...DEAD, event: 'shop.closed' } },
  {
    what: 'bytes in S3 under another key',
    body: shop,
    attributes: { ...DEAD, payloadKey: 'shop.updated/a' },
  },
])('no copy: $what', ({ body, attributes }) => {
  expect(key(UNROUTED, body, attributes)).not.toBe(key(UNROUTED, shop, DEAD));
});

test('messages of different queues are no copies', () => {
  expect(key(DEAD_LETTERS, shop, DEAD)).not.toBe(key(UNROUTED, shop, DEAD));
});

test('copies are one entry: the newest, with their number and the time of the oldest', () => {
  const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;
  const listed = [
    { key: 'a', at: at(2), shown: 'a2' },
    { key: 'b', at: at(1), shown: 'b1' },
    { key: 'a', at: at(3), shown: 'a3' },
    { key: 'a', at: at(1), shown: 'a1' },
  ];
  expect(groupCopies(listed)).toEqual([
    { key: 'a', shown: 'a3', copies: 3, firstAt: at(1) },
    { key: 'b', shown: 'b1', copies: 1, firstAt: at(1) },
  ]);
});
