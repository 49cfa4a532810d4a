import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
  await page.getByText('Live', { exact: true }).waitFor();
  for (const shop of ['shop-1', 'shop-2', 'shop-3']) await open.row(shop).getByText('processed').waitFor();
  expect(await open.rows.count()).toBe(4);
});
