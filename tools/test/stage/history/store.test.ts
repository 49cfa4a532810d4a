import { beforeEach, describe, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { PROCESSED } from '../../../../lambda/log-messages.ts';
import type { DeadLetterFact } from '../../../stage/history/facts.ts';
import { exchangeFact, LocalFeed } from '../../../stage/history/local-feed.ts';
import { HistoryStore, MAX_DELIVERIES, MAX_PAYLOAD_BYTES } from '../../../stage/history/store.ts';
import { at, deadLetter, received, time } from './support.ts';

let store: HistoryStore;

beforeEach(() => {
  store = new HistoryStore();
});

/** A line of the receiver, or of a consumer if it names a message. Each request has an event of its own. */
const line = (id: string, message: string, more: object = {}, seconds = 0) =>
  received(seconds, message, { event: 'shop.updated', requestId: id, eventId: sha256Hex(id), ...more });

const processed = (id: string, seconds = 1) =>
  line(id, 'Processed', { messageId: `message of ${id}`, attempt: 1, latencyMs: 1000 }, seconds);

const failed = (id: string, error: string) =>
  line(id, 'Failed', { messageId: `message of ${id}`, attempt: 1, retryInSeconds: 30, error }, 1);

const idsOf = (filter: Parameters<typeof store.list>[0]) => store.list(filter).map(({ id }) => id);

test('a list has the newest first, or some deliveries', () => {
  store.add(line('request-1', 'Accepted'), line('request-2', 'Accepted', {}, 2), processed('request-1'));
  expect(store.list()).toMatchObject([{ id: 'request-2', state: 'queued' }, { id: 'request-1' }]);
  expect(store.get('request-1')).toMatchObject({ state: 'processed', latencyMs: 1000 });
  expect(idsOf({ ids: ['request-1', 'unknown'] })).toEqual(['request-1']);
});

test.each([
  { given: '{"name":"Café ÉLYSÉE"}', search: 'café élysée' },
  { given: String.raw`{"name":"Caf\u00e9 \"Zur Post\"","url":"https:\/\/a.example\/x"}`, search: 'é "Zur' },
  { given: String.raw`{"url":"https:\/\/a.example\/x"}`, search: 'https://a.example/x' },
  // With quotation marks as written.
  { given: '{"name":"x"}', search: '"name":"x"' },
  { given: '{"name":"x.y"}', search: '.y' },
  { given: '{"name":"👩‍👩‍👧"}', search: '👩‍👩‍👧' },
  { given: '{}', search: 'quest-1' },
  { given: '{}', search: sha256Hex('request-1').slice(0, 8).toUpperCase() },
  { given: '{}', search: 'ThrottlingEx' },
])('a search finds a part of the payload $given, of an id or of an error: $search', ({ given, search }) => {
  store.add(line('request-1', 'Accepted'), failed('request-1', 'ThrottlingException'));
  store.add(line('request-2', 'Accepted'), processed('request-2'));
  store.addPayload('request-1', Buffer.from(given));
  store.addPayload('request-2', Buffer.from('{}'));
  expect(idsOf({ search })).toEqual(['request-1']);
});

test('the preview of a payload disappears with it when it is forgotten', () => {
  const body = '{"event":"shop.updated","data":{"name":"Aozora"}}';
  const ids = { requestId: 'request-1', eventId: sha256Hex('request-1'), event: 'shop.updated' } as const;
  const receipt = { receivedAt: at(0), settledAt: at(1) };
  const record = { ...ids, ...receipt, outcome: PROCESSED, attempt: 1 } as const;
  store.addRecord({ ...record, body }, 'object');
  expect(store.get('request-1')).toMatchObject({ preview: '{"name":"Aozora"}' });
  store.addRecord({ ...record, forgottenAt: '2026-02-01T00:00:00.000Z' }, 'object');
  expect(store.get('request-1')?.preview).toBeUndefined();
  expect(idsOf({ search: 'Aozora' })).toEqual([]);
});

test('changes of rows are reported together, and those that change nothing are not', () => {
  const rounds: (readonly string[])[] = [];
  const end = store.subscribe((ids) => rounds.push(ids));
  const commit = () => void store.list();
  store.add(line('request-1', 'Accepted'), line('request-2', 'Accepted'));
  commit();
  store.add(line('request-1', 'Accepted'), processed('request-2'));
  commit();
  store.addPayload('request-1', Buffer.from('{}'));
  commit();
  end();
  store.add(processed('request-1'));
  commit();
  expect(rounds).toEqual([['request-1', 'request-2'], ['request-2'], ['request-1']]);
});

test('the oldest deliveries are removed with all their facts', () => {
  store.add(line('request-0', 'Accepted'));
  store.addPayload('request-0', Buffer.from('{"name":"first"}'));
  const changed = new Set<string>();
  store.subscribe((ids) => ids.forEach((id) => void changed.add(id)));
  for (let index = 1; index <= MAX_DELIVERIES; index += 1) {
    store.add(line(`request-${index}`, 'Accepted', {}, index));
  }
  expect(store.list().length).toBeLessThanOrEqual(MAX_DELIVERIES);
  expect(store.get('request-0')).toBeUndefined();
  expect(store.payload('request-0')).toBeUndefined();
  expect(idsOf({ search: 'first' })).toEqual([]);
  expect(store.facts({ id: 'request-0', eventId: sha256Hex('request-0') })).toEqual([]);
  expect(changed).toContain('request-0');
  store.add(processed('request-0'));
  expect(store.get('request-0')).toBeUndefined();
});

test('the oldest payloads are removed, and their deliveries stay', () => {
  const half = Buffer.alloc(MAX_PAYLOAD_BYTES / 2, 'x');
  for (const index of [0, 1]) {
    store.add(line(`request-${index}`, 'Accepted', {}, index));
    store.addPayload(`request-${index}`, half);
  }
  store.add(line('request-2', 'Accepted', {}, 2));
  store.addPayload('request-2', Buffer.from('{}'));
  expect(store.payload('request-0')).toBeUndefined();
  expect(store.payload('request-1')?.length).toBe(half.length);
  expect(store.get('request-0')).toMatchObject({ state: 'queued' });
});

describe('what is on a queue', () => {
  const onQueue = (id: string, more: Partial<DeadLetterFact> = {}) =>
    deadLetter({ eventId: sha256Hex(id), requestId: id, messageId: `message of ${id}`, ...more });
  const stateOf = (id: string) => store.get(id)?.state;
  const soon = time(60);

  test('overrides the logs: a dead letter is not being retried, and needs nobody after it has left', () => {
    store.add(line('request-1', 'Accepted'), failed('request-1', 'Throttled'));
    expect(stateOf('request-1')).toBe('retrying');
    expect(store.readQueue('shop.updated', [onQueue('request-1')], soon)).toEqual([]);
    expect(store.get('request-1')).toMatchObject({ state: 'dead-letter', error: 'Throttled' });
    expect(store.readQueue('shop.updated', [], soon)).toMatchObject([{ id: 'request-1' }]);
    expect(stateOf('request-1')).toBe('removed');
    expect(store.readQueue('shop.updated', [], soon)).toEqual([]);
    // A redrive moved it.
    store.add({ kind: 'redrive', at: soon, requestId: 'request-1' });
    expect(stateOf('request-1')).toBe('queued');
  });

  test('is missed if the logs say that it is there, unless it was just sent', () => {
    store.add(line('request-1', 'Unusable'));
    store.readQueue('quarantine', [], time(0));
    expect(stateOf('request-1')).toBe('invalid');
    store.readQueue('quarantine', [], soon);
    expect(stateOf('request-1')).toBe('removed');
  });

  test('counts once, if the same invalid bytes came again: the older one names the newer one', () => {
    const eventId = sha256Hex('bytes');
    const again = onQueue('request-2', { eventId, queue: 'quarantine' });
    store.add(line('request-1', 'Unusable', { eventId }), line('request-2', 'Unusable', { eventId }, 5));
    store.readQueue('quarantine', [again], soon);
    expect(stateOf('request-1')).toBe('removed');
    const { now } = store.history({ id: 'request-1', eventId });
    expect(now).toMatchObject([{ state: 'invalid' }, { state: 'removed', again: 'request-2' }]);
    expect(stateOf('request-2')).toBe('invalid');
  });
});

test('no answer was lost if another delivery of the same bytes was processed', () => {
  const eventId = sha256Hex('bytes');
  const duplicate = { messageId: 'message of request-1', attempt: 2, eventId };
  store.add(
    line('request-1', 'Failed', { ...duplicate, attempt: 1, retryInSeconds: 1, error: 'Timeout' }, 1),
    line('request-1', 'Duplicate', duplicate, 2),
  );
  expect(store.get('request-1')).toMatchObject({ state: 'processed', reason: 'answer-lost' });
  // If two may have had the effect, one of them counts.
  const other = { messageId: 'message of request-3', eventId };
  store.add(
    line('request-3', 'Accepted', { eventId }, 1),
    line('request-3', 'Failed', { ...other, attempt: 1, retryInSeconds: 1, error: 'Timeout' }, 2),
    line('request-3', 'Duplicate', { ...other, attempt: 2 }, 3),
  );
  expect(store.get('request-3')).toMatchObject({ state: 'skipped', reason: 'already-processed' });
  store.add(line('request-2', 'Processed', { messageId: 'message-2', attempt: 1, eventId }, 1));
  expect(store.get('request-2')).toMatchObject({ state: 'processed' });
  expect(store.get('request-1')).toMatchObject({ state: 'skipped', reason: 'already-processed' });
});

const exchange = {
  ...{ requestId: 'request-1', receivedAt: new Date('2026-01-31T09:00:00Z'), durationMilliseconds: 12 },
  ...{ method: 'POST', path: '/api/v1/webhooks/partner', query: '', headers: [], sourceIp: '127.0.0.1' },
  ...{ body: undefined, status: 400, responseHeaders: [], responseBody: Buffer.from('{}') },
};

describe('a request', () => {
  test.each<{ what: string; body: string; event?: string; shopId?: string }>([
    { what: 'a number', body: '{"event":"e","data":{"shop_id":7}}', event: 'e', shopId: '7' },
    { what: 'no JSON', body: '{"event":"e"' },
    { what: 'other types', body: '{"event":7,"data":{"shop_id":{}}}' },
    {
      what: '10,000 levels',
      body: `{"event":"e","data":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      event: 'e',
    },
  ])('with $what has event and shop as far as they can be read', ({ body, event, shopId }) => {
    expect(exchangeFact({ ...exchange, body: Buffer.from(body) })).toMatchObject({ event, shopId });
  });

  test('that was refused has event and shop as the sender claims', () => {
    const body = Buffer.from('{"event":"e","data":{"shop_id":"shop-1"}}');
    store.add(...[exchangeFact({ ...exchange, status: 401, body }) ?? []].flat());
    expect(store.get('request-1')).toMatchObject({ event: 'e', shopId: 'shop-1', claimed: true });
  });

  test('of a browser that opens the address is not a delivery', () => {
    expect(exchangeFact({ ...exchange, method: 'GET', path: '/' })).toBeUndefined();
  });
});

test.each([
  'END RequestId: 1',
  '{"eventId":"e"',
  '{"_aws":{},"eventId":"e","requestId":"request-1"}',
  '{"message":"Ready","requestId":"request-1"}',
  // No request brought its message.
  '{"message":"Processed","eventId":"e","messageId":"m"}',
])('a line about no request makes no row: %s', (text) => {
  const feed = new LocalFeed();
  feed.onLog({ text });
  expect(feed.store.list().length).toBe(0);
});

test('a crash is a failed attempt of each message that the function had', () => {
  const feed = new LocalFeed();
  const attributes = { event: 'shop.updated', eventId: sha256Hex('request-1'), requestId: 'request-1' };
  const messages = [{ messageId: 'message-1', attempt: 1, attributes }];
  feed.store.add(line('request-1', 'Accepted'));
  feed.onLog({ text: 'END', crash: { error: 'Runtime.ExitError', messages } });
  expect(feed.store.get('request-1')).toMatchObject({
    state: 'retrying',
    error: 'The function crashed (Runtime.ExitError)',
    attempts: 1,
  });
});
