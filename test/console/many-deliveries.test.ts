import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { OpenConsole, shopUpdated } from './open-console.ts';

const MANY = 10_000;

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
  for (let number = 0; number < MANY; number += 1) open.recorder.onExchange(exchange(number));
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

function exchange(number: number) {
  return {
    requestId: `request-${number}`,
    receivedAt: new Date(Date.now() - (MANY - number)),
    method: 'POST',
    path: '/api/v1/webhooks/partner',
    query: '',
    headers: [['content-type', 'application/json']] as const,
    sourceIp: '127.0.0.1',
    body: Buffer.from(JSON.stringify(shopUpdated(`shop-${number}`))),
    status: 200,
    responseHeaders: [],
    responseBody: Buffer.from(`{"status":"queued","eventId":"${number}","requestId":"request-${number}"}`),
    durationMilliseconds: 1,
  };
}

test('of 10,000 deliveries only those in view are drawn, and the last is a key away', async () => {
  const { page } = open;
  await page.getByText('10,000').first().waitFor();
  await open.row('shop-9999').waitFor();
  expect(await page.getByRole('option').count()).toBeLessThan(200);
  const list = page.getByRole('listbox');
  expect(await page.getByRole('option').first().getAttribute('aria-setsize')).toBe(String(MANY));
  await list.focus();
  await page.keyboard.press('End');
  await open
    .row(/shop-0$/)
    .or(open.row('shop-0'))
    .first()
    .waitFor();
  expect(await page.getByRole('option', { selected: true }).getAttribute('aria-posinset')).toBe(String(MANY));
});

test('a search among them finds the one', async () => {
  const { page } = open;
  await page.getByRole('searchbox').fill('shop-7777');
  await open.row('shop-7777').waitFor();
  expect(await page.getByRole('option').count()).toBe(1);
});
