import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '../../../test/support/eventually.ts';
import { isLive, OpenConsole, shopUpdated } from './open-console.ts';

let open: OpenConsole;

const streams = new Set<IncomingMessage>();

function onRequest(message: unknown): void {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  if (!request.url?.startsWith('/api/stream')) return;
  streams.add(request);
  response.once('close', () => streams.delete(request));
}

const streamCount = (wanted: number) => eventually(async () => streams.size === wanted || undefined);

beforeAll(async () => {
  subscribe('http.server.request.start', onRequest);
  open = await OpenConsole.start();
});
beforeEach(async () => {
  // Leaving the view unfreezes a list that a selection has frozen.
  await open.show('#/queues');
  await open.page.locator('.deliveries-table').waitFor({ state: 'hidden' });
  await open.show('#/deliveries');
});
afterEach(async () => {
  for (const page of open.context.pages()) if (page !== open.page) await page.close();
  await streamCount(1);
  expect(open.wrongs).toEqual([]);
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  unsubscribe('http.server.request.start', onRequest);
});

const rowOf = (page: Page, shop: string) => page.getByRole('row').filter({ hasText: shop });

const send = (shop: string) => open.partner.post(shopUpdated(shop));

async function openWindow(hash = ''): Promise<Page> {
  const page = await open.context.newPage();
  await page.goto(`${open.url}${hash}`);
  return page;
}

/** Tells a page that it is hidden: the browser itself shows all pages of a test. */
const hide = (page: Page, hidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

test('a hidden window closes its stream, and catches up when it is visible', async () => {
  const other = await openWindow();
  await isLive(other);
  await streamCount(2);
  await hide(other, true);
  await streamCount(1);
  await send('shop-hidden');
  await open.row('shop-hidden').getByText('Processed').waitFor();
  expect(await rowOf(other, 'shop-hidden').count()).toBe(0);
  await hide(other, false);
  await rowOf(other, 'shop-hidden').getByText('Processed').waitFor();
});

test('a page whose start fails says why, and tries again', async () => {
  const page = await open.context.newPage();
  await page.route('**/api/stack', (route) => route.abort());
  await page.goto(open.url);
  await page.getByText('The console’s server does not answer').waitFor();
  await page.unroute('**/api/stack');
  await isLive(page);
});

test('the address of a delivery from before a restart says that the stack started empty, and when', async () => {
  const page = await openWindow('#/deliveries/from-an-earlier-process');
  await page
    .getByText(/The local stack started empty at \d\d:\d\d:\d\d\. Deliveries from before a restart are/)
    .waitFor();
});
