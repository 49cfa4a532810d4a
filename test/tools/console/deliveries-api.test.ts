import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Partner } from '../../support/partner.ts';
import { startTestConsole, type TestConsole } from './support.ts';

let running: TestConsole;
let partner: Partner;

beforeAll(async () => {
  running = await startTestConsole();
  partner = new Partner(running.stack.outputs.WebhookUrl);
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
});

const shopUpdated = (more: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: `shop-${randomUUID()}`, ...more },
  timestamp: '2026-01-31T09:00:00Z',
});

test('a delivery settles, and shows its request, answer, timeline, effect and log lines', async () => {
  const body = JSON.stringify(shopUpdated({ name: 'Shop' }));
  const { body: answer } = await partner.post(body);
  const { requestId, eventId } = answer;
  const { status, body: detail } = await running.api.get(
    `/api/deliveries/${encodeURIComponent(String(requestId))}/settled?timeout=20`,
  );
  expect(status).toBe(200);
  expect(detail).toMatchObject({
    id: requestId,
    eventId,
    event: 'shop.updated',
    state: 'processed',
    settled: true,
    attempts: 1,
    status: 200,
  });
});
