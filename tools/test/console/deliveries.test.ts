import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.ts';
import { type Delivery, Partner, signBody, TEST_SECRET } from '../../../test/support/partner.ts';
import { forget } from '../../stage/archive/forget.ts';
import { dlqDiscard } from '../../stage/queues/dlq-discard.ts';
import { findQueue } from '../../stage/queues/queue.ts';
import { startTestConsole, type TestConsole } from './support.ts';

let running: TestConsole;
let partner: Partner;

beforeAll(async () => {
  running = await startTestConsole();
  partner = new Partner(running.stack.outputs.WebhookUrl);
});
afterAll(() => running[Symbol.asyncDispose]());

const NOW = new Date().toISOString();

const shopUpdated = (data: object = {}, more: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: `shop-${randomUUID()}`, ...data },
  timestamp: '2026-01-31T09:00:00Z',
  ...more,
});

const pathOf = (id: unknown) => `/api/deliveries/${encodeURIComponent(String(id))}`;

/**
 * Posts a body as the partner does.
 * @returns the delivery's detail when it has settled
 */
async function deliver(body: unknown, delivery?: Delivery) {
  const { body: answer } = await partner.post(body, delivery);
  return settled(answer.requestId);
}

/** @returns the detail of a delivery when it has settled */
const settled = (id: unknown) =>
  eventually(async () => {
    const { body } = await running.api.get(pathOf(id));
    return body.settled ? body : undefined;
  });

/** What a command gets that runs on the stack of the console. */
const operation = () => ({
  stack: running.source.stage,
  signal: new AbortController().signal,
  printLine: () => {},
  progress: { show: () => {}, end: () => {} },
  width: Number.POSITIVE_INFINITY,
});

describe('a delivery', () => {
  test('settles, and has its request, answer, timeline, effect and log lines', async () => {
    const payload = shopUpdated({ name: 'Shop', updated_fields: ['name'] });
    const { shop_id } = payload.data;
    const bytes = JSON.stringify(payload).length;
    const detail = await deliver(payload);
    const after = { shop_id, updated_fields: ['name'], version: expect.stringContaining(detail.eventId) };
    expect(detail).toMatchObject({
      event: 'shop.updated',
      shopId: shop_id,
      status: 200,
      state: 'processed',
      settled: true,
      attempts: 1,
      problems: [],
      bytes,
      exchange: { method: 'POST', path: '/api/v1/webhooks/partner', status: 200 },
      history: { event: 'shop.updated', now: [{ state: 'processed' }] },
      effects: [{ kind: 'item', table: 'ShopCacheTable', key: shop_id, before: null, after }],
      logs: [{ function: 'receiver' }, { function: 'shop.updated' }],
    });
    const signature = ['x-webhook-signature', expect.stringMatching(/^[0-9a-f]{64}$/)];
    expect(detail.exchange.headers).toContainEqual(signature);
    expect(JSON.parse(detail.exchange.responseBody)).toMatchObject({
      status: 'queued',
      requestId: detail.id,
    });
  });

  test('with repeated bytes has its own log lines', async () => {
    const payload = shopUpdated();
    await deliver(payload);
    const { logs } = await deliver(payload);
    expect(logs).toMatchObject([{ function: 'receiver' }, { function: 'shop.updated' }]);
  });

  test('is not found by its payload after the person was forgotten', async () => {
    const [user_id, display_name] = [`user-${randomUUID()}`, `Aiko ${randomUUID()}`];
    const { id } = await deliver({ event: 'user.updated', data: { user_id, display_name }, timestamp: NOW });
    const found = () => running.source.store.list({ search: display_name }).length;
    expect(found()).toBe(1);
    const agreed = async () => true;
    await eventually(async () => {
      const isKnown = running.feed.store.facts({ id }).some(({ kind }) => kind === 'record');
      return isKnown || undefined;
    });
    await forget(operation(), [{ kind: 'user', id: user_id }], { dryRun: false, agreed });
    await eventually(async () => found() === 0 || undefined);
    const { body } = await running.api.get(pathOf(id));
    expect(body.bodyMissing).toContain('data was removed from the archive');
    expect(body).not.toHaveProperty('preview');
  });

  test('that somebody discarded needs nobody any more, and says who did it and why', async () => {
    const { id, state } = await deliver(shopUpdated({ shop_id: '' }));
    expect(state).toBe('invalid');
    const consent = { reason: 'a test', exportTo: undefined };
    await dlqDiscard(operation(), await findQueue(running.source.stage, 'quarantine'), {}, consent);
    const { history } = await eventually(async () => {
      const { body } = await running.api.get(pathOf(id));
      return body.state === 'removed' ? body : undefined;
    });
    const discarded = { by: expect.stringMatching(/^arn:/), reason: 'a test' };
    expect(history.now).toMatchObject([{ state: 'removed', queue: 'quarantine', discarded }]);
    expect(history.steps.at(-1)).toMatchObject({ kind: 'discarded', discarded });
  });

  test('has its notification for people', async () => {
    const comment = `Nice ${randomUUID()}`;
    const data = { shop_id: 'shop-1', comment };
    const detail = await deliver({ event: 'review.posted', data, timestamp: '2026-01-31T09:00:00Z' });
    const texts = { default: expect.stringContaining(comment) };
    expect(detail.effects).toMatchObject([
      { kind: 'notification', topic: 'ReviewTopicArn', subject: expect.any(String), texts },
    ]);
  });

  test('that API Gateway refuses has its answer', async () => {
    const url = (running.stack.outputs.WebhookUrl ?? '').replace('/partner', '/partners');
    const response = await fetch(url, { method: 'POST', body: '{}' });
    const body = await settled(response.headers.get('apigw-requestid'));
    const refused = { state: 'refused', status: 404, error: 'Not Found' };
    expect(body).toMatchObject({
      ...refused,
      settled: true,
      history: { now: [refused] },
      exchange: { path: '/api/v1/webhooks/partners' },
      bodyMissing: expect.stringContaining('not read'),
    });
  });

  test('with the signature of other bytes says what its sender signed, and never the secret', async () => {
    const body = shopUpdated();
    const signature = signBody(JSON.stringify(body));
    const detail = await deliver(JSON.stringify(body, null, 2), { signature });
    const what = expect.stringContaining('JSON that was serialised again');
    expect(detail).toMatchObject({ state: 'rejected', claimed: true, mistakes: [{ what }] });
    expect(JSON.stringify(detail)).not.toContain(TEST_SECRET);
  });
});

test('a body that is no text is returned byte for byte, and a browser does not show it', async () => {
  const sent = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]);
  const { id, bytes } = await deliver(sent);
  const answer = await running.api.get(`${pathOf(id)}/body`);
  expect(answer.bytes).toEqual(sent);
  expect(bytes).toBe(sent.length);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
  });
});

test.each([
  { path: '/api/stream?serach=x', status: 400, detail: 'The request: Unrecognized key: "serach"' },
  { path: '/api/deliveries/unknown/body', status: 404, detail: 'No delivery has this id' },
  { path: '/api/deliveries/%ff', status: 404, detail: 'No delivery has this id' },
  { path: '/api/nothing', status: 404, detail: 'There is no such path' },
])('a bad request gets a problem: $status $detail', async ({ path, status, detail }) => {
  const { headers, body } = await running.api.get(path);
  expect(headers).toMatchObject({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
  });
  expect(body).toEqual({ title: expect.any(String), status, detail: expect.stringContaining(detail) });
});
