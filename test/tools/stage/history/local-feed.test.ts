import { describe, expect, test } from '@jest/globals';
import { exchangeFact, LocalFeed } from '../../../../tools/stage/history/local-feed.ts';

const exchange = {
  requestId: 'request-1',
  receivedAt: new Date('2026-01-31T09:00:00Z'),
  method: 'POST',
  path: '/api/v1/webhooks/partner',
  query: '',
  headers: [],
  sourceIp: '127.0.0.1',
  body: undefined,
  status: 400,
  responseHeaders: [],
  responseBody: Buffer.from('{"type":"urn:x"}'),
  durationMilliseconds: 12,
};

describe('a request', () => {
  test.each<[what: string, body: string, event: string | undefined, shopId: string | undefined]>([
    ['a number as its shop', '{"event":"e","data":{"shop_id":7}}', 'e', '7'],
    ['no object', '["event"]', undefined, undefined],
    ['no JSON', '{"event":"e"', undefined, undefined],
    ['other types', '{"event":7,"data":{"shop_id":{}}}', undefined, undefined],
    ['10,000 levels', `{"event":"e","data":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'e', undefined],
    ['5 MB', `{"event":"e","data":{"shop_id":"shop-\\u0031","x":"${'x'.repeat(5_000_000)}"}}`, 'e', 'shop-1'],
    ['5 MB without an event', 'x'.repeat(5_000_000), undefined, undefined],
  ])('with %s shows event and shop as far as they can be seen', (_, body, event, shopId) => {
    expect(exchangeFact({ ...exchange, body: Buffer.from(body) })).toMatchObject({ event, shopId });
  });

  test('of a browser that opens the address is no delivery', () => {
    expect(exchangeFact({ ...exchange, method: 'GET', path: '/' })).toBeUndefined();
  });
});

test.each([
  ['is no JSON', 'END RequestId: 1'],
  ['is broken JSON', '{"eventId":"e"'],
  ['is a metric', '{"_aws":{},"eventId":"e","requestId":"request-1"}'],
  ['names no event', '{"message":"Ready","requestId":"request-1"}'],
  ['is about a message that no request brought', '{"message":"Processed","eventId":"e","messageId":"m"}'],
])('a line that %s makes no row', (_, text) => {
  using feed = new LocalFeed();
  feed.onLog({ text });
  expect(feed.store.size).toBe(0);
});
