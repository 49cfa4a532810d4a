import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addressOf, OpenConsole, shopUpdated } from './open-console.ts';

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
});
afterAll(async () => {
  const { wrongs } = open;
  await open[Symbol.asyncDispose]();
  expect(wrongs).toEqual([]);
});

/** Requests to the server: name of its event, of each stream that begins and ends. */
const rowOf = (page: Page, shop: string) => page.getByRole('row').filter({ hasText: shop });

const live = (page: Page) => page.locator('.connection.is-live').waitFor();

test('eight visible windows get a new delivery, and each can load a detail', async () => {
  const { context, url } = open;
  const others = await Promise.all(Array.from({ length: 7 }, () => context.newPage()));
  // A browser has six connections per server.
  await Promise.all(others.map((page) => page.goto(url)));
  const windows = [open.page, ...others];
  await Promise.all(windows.map(live));
  const { body } = await open.partner.post(shopUpdated('shop-windows'));
  await Promise.all(windows.map((page) => rowOf(page, 'shop-windows').getByText('Processed').waitFor()));
  await Promise.all(
    windows.map(async (page) => {
      await page.evaluate(`location.hash = ${JSON.stringify(addressOf(body.requestId))}`);
      await page.locator('#detail').getByText(/^Finished at/).waitFor();
    }),
  );
  await Promise.all(others.map((page) => page.close()));
});
