import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { exchangeOf } from './measure.ts';
import { OpenConsole } from './open-console.ts';

const MANY = 10_000;

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
  for (let number = 0; number < MANY; number += 1) open.feed.onExchange(exchangeOf(number));
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

test('of 10,000 deliveries only those in view are drawn, and the last is a key away', async () => {
  const { page } = open;
  await page.getByText('10,000').first().waitFor();
  await open.row('shop-9999').waitFor();
  expect(await open.rows.count()).toBeLessThan(200);
  const list = page.getByRole('grid');
  // With the row of headings.
  expect(await list.getAttribute('aria-rowcount')).toBe(String(MANY + 1));
  await list.focus();
  await page.keyboard.press('End');
  await open
    .row(/shop-0$/)
    .or(open.row('shop-0'))
    .first()
    .waitFor();
  expect(await open.rows.and(page.locator('[aria-selected=true]')).getAttribute('aria-rowindex')).toBe(
    String(MANY + 1),
  );
});

test('a search among them finds the one', async () => {
  const { page } = open;
  await page.getByRole('searchbox').fill('shop-7777');
  await open.row('shop-7777').waitFor();
  expect(await open.rows.count()).toBe(1);
});
