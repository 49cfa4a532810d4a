import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { Partner } from '../../support/partner.ts';
import { TEST_SECRET } from '../../support/test-stack.ts';
import { startTestConsole, type TestConsole } from './support.ts';

let running: TestConsole;
let partner: Partner;

beforeAll(async () => {
  running = await startTestConsole({
    environment: { FIRST_RETRY_DELAY_SECONDS: '1', MAXIMUM_RECEIVES: '2' },
  });
  partner = new Partner(running.stack.outputs.WebhookUrl);
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
});

const shopUpdated = (data: object = {}, more: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: `shop-${randomUUID()}`, ...data },
  timestamp: '2026-01-31T09:00:00Z',
  ...more,
});

const pathOf = (id: unknown) => `/api/deliveries/${encodeURIComponent(String(id))}`;

/** Sends a body as the partner does, and waits for what became of it. */
async function deliver(
  body: unknown,
  ...delivery: Parameters<Partner['post']> extends [unknown, ...infer Rest] ? Rest : []
) {
  const { body: answer } = await partner.post(body, ...delivery);
  const { body: detail } = await running.api.get(`${pathOf(answer.requestId)}/settled?timeout=30`);
  return detail;
}

describe('a delivery', () => {
  test('settles, and shows its request, answer, timeline, effect and log lines', async () => {
    const payload = shopUpdated({ name: 'Shop', updated_fields: ['name'] });
    const body = JSON.stringify(payload);
    const detail = await deliver(body);
    const { shop_id } = payload.data;
    expect(detail).toMatchObject({
      event: 'shop.updated',
      shopId: shop_id,
      state: 'processed',
      settled: true,
      attempts: 1,
      status: 200,
      bytes: Buffer.byteLength(body),
      request: { method: 'POST', path: '/api/v1/webhooks/partner', bytes: Buffer.byteLength(body) },
      answer: { status: 200 },
      history: { event: 'shop.updated', now: [{ state: 'processed' }] },
      problems: [],
      effects: [
        {
          kind: 'item',
          table: 'ShopCacheTable',
          key: shop_id,
          before: null,
          after: { shop_id, updated_fields: ['name'], version: expect.stringContaining(detail.eventId) },
        },
      ],
    });
    expect(detail.request.headers).toContainEqual([
      'x-webhook-signature',
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
    expect(JSON.parse(detail.answer.responseBody)).toMatchObject({ status: 'queued', requestId: detail.id });
    expect(detail.logs.map((line: { function: string }) => line.function)).toEqual([
      'receiver',
      'shop.updated',
    ]);
  });

  test('shows the row before it, too', async () => {
    const { data } = shopUpdated();
    const first = await deliver(shopUpdated({ ...data, updated_fields: ['name'] }));
    const second = await deliver(shopUpdated(data, { timestamp: '2026-01-31T10:00:00Z' }));
    expect(second.effects).toHaveLength(1);
    expect(second.effects[0].before).toEqual(first.effects[0].after);
    expect(second.effects[0].after).not.toHaveProperty('updated_fields');
  });

  test('shows what people get of it', async () => {
    const detail = await deliver({
      event: 'review.posted',
      data: { shop_id: 'shop-1', comment: `Nice ${randomUUID()}` },
      timestamp: '2026-01-31T09:00:00Z',
    });
    expect(detail).toMatchObject({ state: 'processed' });
    expect(detail.effects).toEqual([
      {
        kind: 'notification',
        topic: 'ReviewTopicArn',
        at: expect.any(String),
        subject: expect.any(String),
        texts: expect.objectContaining({ default: expect.stringContaining('Nice') }),
      },
    ]);
  });

  test('that fails is retried, and shows its attempts and their error once it is a dead letter', async () => {
    const end = running.stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
    try {
      const detail = await deliver(shopUpdated());
      expect(detail).toMatchObject({ state: 'dead-letter', settled: true, attempts: 2, effects: [] });
      expect(detail.error).toContain('Throughput');
      expect(detail.history.now).toMatchObject([{ state: 'dead-letter', queueHolds: 1 }]);
    } finally {
      end();
    }
  });

  test.each([
    [
      'with a wrong signature',
      shopUpdated(),
      { signature: '00' },
      { state: 'rejected', status: 401, error: 'malformed signature' },
    ],
    [
      'without its fields',
      { ...shopUpdated(), data: {} },
      {},
      { state: 'invalid', status: 400, error: 'Invalid or missing: data.shop_id' },
    ],
    [
      'of a kind that nobody knows',
      { ...shopUpdated(), event: 'shop.opened' },
      {},
      { state: 'parked', status: 200, event: 'shop.opened' },
    ],
  ])('%s has settled at once', async (_, body, delivery, row) => {
    const detail = await deliver(body, delivery);
    expect(detail).toMatchObject({ ...row, settled: true, attempts: 0, effects: [] });
    expect(detail.history.steps.map(({ kind }: { kind: string }) => kind)).toContain('answered');
  });

  test('that API Gateway refuses is shown with its answer', async () => {
    const url = (running.stack.outputs.WebhookUrl ?? '').replace('/partner', '/partners');
    const response = await fetch(url, { method: 'POST', body: '{}' });
    const { body: detail } = await running.api.get(
      `${pathOf(response.headers.get('apigw-requestid'))}/settled`,
    );
    expect(detail).toMatchObject({
      state: 'refused',
      status: 404,
      settled: true,
      error: 'Not Found',
      history: { now: [{ state: 'refused', status: 404, error: 'Not Found' }] },
      request: { path: '/api/v1/webhooks/partners', bodyMissing: expect.stringContaining('not read') },
    });
  });

  test('that has not settled in time is shown as it is', async () => {
    const end = running.stack.faults.inject({ service: 'dynamodb', kind: 'slow', milliseconds: 1_500 });
    try {
      const { body: answer } = await partner.post(shopUpdated());
      const early = await running.api.get(`${pathOf(answer.requestId)}/settled?timeout=1`);
      expect(early.body).toMatchObject({ state: 'queued', settled: false });
      const late = await running.api.get(`${pathOf(answer.requestId)}/settled?timeout=30`);
      expect(late.body).toMatchObject({ state: 'processed', settled: true });
    } finally {
      end();
    }
  });
});

describe('a body', () => {
  const levels = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;

  test.each([
    ['of 4 MB', JSON.stringify(shopUpdated({ x: 'x'.repeat(4 * 1024 * 1024) }))],
    ['of 10,000 levels', JSON.stringify(shopUpdated()).replace('"data":{', `"data":{"x":${levels},`)],
    [
      'with control characters',
      JSON.stringify(shopUpdated({ x: '\u0000\u001b[31m\u009b\u202e\ufffe\ud800' })),
    ],
    ['with markup', JSON.stringify(shopUpdated({ x: '</script><img src=x onerror=alert(1)>' }))],
    ['that is no text', Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d])],
    ['that is empty', ''],
  ])('%s comes through byte for byte, and is nothing that a browser shows', async (_, body) => {
    const { id, bytes } = await deliver(body);
    const answer = await running.api.get(`${pathOf(id)}/body`);
    expect(answer.bytes.equals(Buffer.from(body))).toBe(true);
    expect(bytes).toBe(answer.bytes.length);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
  });
});

describe('the list', () => {
  test('has the newest first, as many as are asked for, and says how many there are', async () => {
    const shop = `shop-${randomUUID()}`;
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1)
      ids.push((await deliver(shopUpdated({ shop_id: shop, count }))).id);
    const { body } = await running.api.get(`/api/deliveries?shop=${shop}&limit=2`);
    expect(body).toMatchObject({ deliveries: [{ id: ids[2] }, { id: ids[1] }], total: 3 });
  });

  test('is narrowed by every filter', async () => {
    const shop = `shop-${randomUUID()}`;
    const { id, eventId, receivedAt } = await deliver(
      shopUpdated({ shop_id: shop, name: 'Ünïque' }, { webhookId: `wh-${shop}` }),
    );
    const at = (difference: number) => new Date(Date.parse(receivedAt) + difference).toISOString();
    const of = async (query: Record<string, string>) => {
      const { body } = await running.api.get(`/api/deliveries?${new URLSearchParams({ shop, ...query })}`);
      return body.deliveries.map((row: { id: string }) => row.id);
    };
    for (const query of [
      {},
      { search: 'üNÏQUE' },
      { search: `WH-${shop}` },
      { search: eventId.slice(0, 12) },
      { search: id },
      { event: 'shop.updated' },
      { shop: shop.slice(1, -1).toUpperCase() },
      { state: 'dead-letter,processed' },
      { since: '90m' },
      { since: receivedAt, until: at(1) },
      { search: '', event: '', state: '' },
    ]) {
      expect({ query, found: await of(query) }).toEqual({ query, found: [id] });
    }
    for (const query of [
      { search: 'unique' },
      { event: 'girl.created' },
      { state: 'dead-letter' },
      { shop: `${shop}x` },
      { since: at(1) },
      { until: receivedAt },
    ]) {
      expect({ query, found: await of(query) }).toEqual({ query, found: [] });
    }
  });

  test('finds what JSON has as an escape', async () => {
    const body = JSON.stringify(shopUpdated({ name: 'X' })).replace('"X"', '"\\u5E97\\u8217"');
    const { id } = await deliver(body);
    const { body: found } = await running.api.get(`/api/deliveries?search=${encodeURIComponent('店舗')}`);
    expect(found.deliveries.map((row: { id: string }) => row.id)).toEqual([id]);
  });
});

test('the stack says what it is, how a command names it, and which events and tables it has', async () => {
  const { body } = await running.api.get('/api/stack');
  expect(body).toMatchObject({
    title: 'the local stack',
    local: true,
    readOnly: false,
    commandSuffix: '',
    webhookUrl: running.stack.outputs.WebhookUrl,
    secret: TEST_SECRET,
    tables: [
      { name: 'ShopCacheTable', key: 'shop_id' },
      { name: 'CastTable', key: 'girl_id' },
      { name: 'ContactPartnerTable', key: 'user_id' },
    ],
  });
  expect(body.events.map(({ name }: { name: string }) => name)).toEqual(eventNames);
  for (const { name, sample } of body.events) expect(JSON.parse(sample).event).toBe(name);
});

describe('what is wrong with a request is said as a problem', () => {
  test.each<[path: string, status: number, detail: string]>([
    ['/api/deliveries?limit=0', 400, 'limit: Too small: expected number to be >=1'],
    ['/api/deliveries?limit=many', 400, 'limit: Invalid input: expected number'],
    ['/api/deliveries?state=lost', 400, 'state must be one of received, refused, '],
    ['/api/deliveries?since=yesterday', 400, 'since: It must be a time such as '],
    ['/api/deliveries?until=2026-02-30', 400, 'until: It must be a time such as '],
    ['/api/deliveries?since=2026-02-01&until=2026-01-01', 400, 'until must be after since'],
    ['/api/deliveries?serach=x', 400, 'Unknown: "serach"; known are search, event, '],
    ['/api/deliveries?shop=a&shop=b', 400, 'shop is given more than once'],
    ['/api/stream?shop=a', 400, 'Unknown: "shop"; known are search, after'],
    ['/api/deliveries/unknown', 404, 'No delivery has this id'],
    ['/api/deliveries/unknown/body', 404, 'No delivery has this id'],
    ['/api/deliveries/unknown/settled?timeout=0', 404, 'No delivery has this id'],
    ['/api/deliveries/unknown/settled?timeout=1d', 400, 'timeout: Invalid input: expected number'],
    ['/api/deliveries/%ff', 404, 'No delivery has this id'],
    ['/api/nothing', 404, 'There is no such path'],
  ])('%s: %i %s', async (path, status, detail) => {
    const { headers, body } = await running.api.get(path);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      type: expect.stringMatching(/^urn:partner-webhooks-console:problem:/),
      title: expect.any(String),
      status,
      detail: expect.stringContaining(detail),
    });
  });

  test('a search for more than anybody types', async () => {
    const { body } = await running.api.get(`/api/deliveries?search=${'x'.repeat(1_001)}`);
    expect(body).toMatchObject({
      status: 400,
      detail: 'search: Too big: expected string to have <=1000 characters',
    });
  });

  test.each<[what: string, method: string, headers: Record<string, string>, status: number]>([
    ['a method that a path does not have', 'POST', { 'content-type': 'application/json' }, 405],
    ['a change without the cookie', 'POST', { 'content-type': 'application/json', cookie: '' }, 403],
    ['a foreign host', 'GET', { host: 'rebound.example' }, 421],
  ])('%s: %s %j: %i', async (_, method, headers, status) => {
    const answer = await running.api.request('/api/deliveries', { method, headers });
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status, body: { status } });
  });
});
