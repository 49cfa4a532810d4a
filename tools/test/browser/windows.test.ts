import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { eventually } from '../../../test/support/eventually.ts';
import { addressOf, OpenConsole, shopUpdated } from './open-console.ts';

let open: OpenConsole;

/** Requests to the API in the current test. */
const requests: string[] = [];
const streams = new Set<IncomingMessage>();

function onRequest(message: unknown): void {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const { url = '' } = request;
  if (!url.startsWith('/api/')) return;
  requests.push(url);
  if (!url.startsWith('/api/stream')) return;
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
  requests.length = 0;
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

async function openWindow(hash = '', context: BrowserContext = open.context): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${open.url}${hash}`);
  return page;
}

const isLive = (page: Page) => page.locator('.connection.is-live').waitFor();

/** Tells a page that it is hidden: the browser itself shows all pages of a test. */
const hide = (page: Page, hidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

describe('the windows of a browser', () => {
  test('share one stream: eight get a new delivery, and each can load a detail', async () => {
    await send('shop-before');
    const others = await Promise.all(Array.from({ length: 7 }, () => openWindow()));
    const windows = [open.page, ...others];
    await Promise.all(windows.map(isLive));
    await Promise.all(windows.map((page) => rowOf(page, 'shop-before').waitFor()));
    const { body } = await send('shop-windows');
    await Promise.all(windows.map((page) => rowOf(page, 'shop-windows').getByText('Processed').waitFor()));
    expect(streams.size).toBe(1);
    const showDetail = async (page: Page) => {
      await page.evaluate(`location.hash = ${JSON.stringify(addressOf(body.requestId))}`);
      await page
        .locator('#detail')
        .getByText(/^Finished at/)
        .waitFor();
    };
    await Promise.all(windows.map(showDetail));
  });

  test('close the stream while all are hidden, and catch up when one is visible', async () => {
    const other = await openWindow();
    await isLive(other);
    await hide(other, true);
    await send('shop-hidden-1');
    await open.row('shop-hidden-1').getByText('Processed').waitFor();
    expect(await rowOf(other, 'shop-hidden-1').count()).toBe(0);
    await hide(open.page, true);
    await streamCount(0);
    await send('shop-hidden-2');
    await hide(other, false);
    await rowOf(other, 'shop-hidden-2').getByText('Processed').waitFor();
    expect(await rowOf(other, 'shop-hidden-1').count()).toBe(1);
    await hide(open.page, false);
    await open.row('shop-hidden-2').getByText('Processed').waitFor();
  });

  test('have a stream for each search, until a search would use up the connections', async () => {
    await send('shop-search');
    const searching = async (text: string) => openWindow(`#/deliveries?search=${text}`);
    const [first, ...others] = [
      await searching('shop-search'),
      await searching('shop-s'),
      await searching('shop-search'),
    ];
    for (const page of [first, ...others]) await rowOf(page, 'shop-search').waitFor();
    expect(streams.size).toBe(3);
    const refused = await searching('shop-');
    await refused.getByText('Other windows search for 2 other texts').waitFor();
    expect(streams.size).toBe(3);
    for (const page of others) await page.close();
    await rowOf(refused, 'shop-search').waitFor();
  });

  test('have a stream each if the browser has no shared workers', async () => {
    const other = await open.context.newPage();
    await other.addInitScript('delete globalThis.SharedWorker');
    await other.goto(open.url);
    await isLive(other);
    expect(streams.size).toBe(2);
    await hide(other, true);
    await streamCount(1);
    await send('shop-alone');
    await hide(other, false);
    await rowOf(other, 'shop-alone').getByText('Processed').waitFor();
  });
});

test('a page that opens sends one request, and then only follows the stream', async () => {
  await send('shop-quiet');
  requests.length = 0;
  const page = await openWindow('#/queues');
  await page.getByRole('row', { name: /^shop\.updated/ }).waitFor();
  expect(requests).toEqual(['/api/stack']);
});

test('a page whose start fails says why, and tries again', async () => {
  const page = await open.context.newPage();
  await page.route('**/api/stack', (route) => route.abort());
  await page.goto(open.url);
  await page.getByText('The console’s server does not answer').waitFor();
  await page.getByText('Connecting', { exact: true }).waitFor();
  await page.unroute('**/api/stack');
  await isLive(page);
});

test('a search that the server refuses says why, in each window, and the next one works', async () => {
  const tooLong = `#/deliveries?search=${'x'.repeat(2_000)}`;
  const pages = [await openWindow(tooLong), await openWindow(tooLong)];
  for (const page of pages) {
    await page.getByText('Not connected', { exact: true }).waitFor();
    await page.getByText(/search: Too big/).waitFor();
    await page.locator('#search').fill('');
    await isLive(page);
  }
});

test('the address of a delivery from before a restart says that the stack started empty, and when', async () => {
  const page = await openWindow('#/deliveries/from-an-earlier-process');
  await page.getByText(/The local stack started empty at \d\d:\d\d:\d\d\. If that was a restart/).waitFor();
});
