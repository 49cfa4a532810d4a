import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
});
afterAll(() => open[Symbol.asyncDispose]());

test('while the console is away the page says so, and afterwards it has every delivery once', async () => {
  const { page, partner } = open;
  await partner.post(shopUpdated('shop-before'));
  await open.row('shop-before').waitFor();
  await open.withoutConsole(async () => {
    await page.getByText('Reconnecting').waitFor();
    for (const shop of ['shop-1', 'shop-2', 'shop-3']) await partner.post(shopUpdated(shop));
  });
  await page.getByText('Connected', { exact: true }).waitFor();
  for (const shop of ['shop-1', 'shop-2', 'shop-3']) await open.row(shop).getByText('Processed').waitFor();
  expect(await open.rows.count()).toBe(4);
});

/** The browser shows all pages of a test. Others are hidden as a browser hides them. */
const hide = (page: Page, hidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

test('seven tabs work: a hidden one releases its connection, and catches up when it is seen', async () => {
  const { page, context, partner, url } = open;
  const others: Page[] = [];
  for (let number = 0; number < 6; number += 1) {
    const other = await context.newPage();
    await other.goto(url);
    await other.getByText('Connected', { exact: true }).waitFor();
    await hide(other, true);
    others.push(other);
  }
  await page.reload();
  await open.row('shop-before').waitFor();
  await partner.post(shopUpdated('shop-seventh'));
  await open.row('shop-seventh').getByText('Processed').waitFor();
  const [other] = others;
  const row = other?.getByRole('row').filter({ hasText: 'shop-seventh' });
  expect(await row?.count()).toBe(0);
  if (other !== undefined) await hide(other, false);
  await row?.getByText('Processed').waitFor();
  expect(await other?.getByRole('row').filter({ hasText: 'shop-before' }).count()).toBe(1);
  for (const one of others) await one.close();
});
