import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

const MEGABYTE = 1024 * 1024;
const RIGHT_TO_LEFT_OVERRIDE = '\u202e';

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

/** Posts, and opens the request of it. */
async function openRequest(shop: string, body: unknown): Promise<void> {
  const { page, partner } = open;
  await partner.post(body);
  await open.goto('#/deliveries');
  await open.row(shop).first().click();
  await page.getByRole('tab', { name: /^Request/ }).click();
}

const bodyView = () => open.page.getByRole('region', { name: /^Body/ });

test('markup is shown as text, wherever it stands', async () => {
  const { page } = open;
  const markup = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  await openRequest('shop-markup', shopUpdated('shop-markup', { name: markup, updated_fields: [markup] }));
  await bodyView()
    .getByText(/<img src=x onerror=/)
    .first()
    .waitFor();
  await page.getByRole('tab', { name: 'Overview' }).click();
  await open.detail
    .getByText(/<script>/)
    .first()
    .waitFor();
  expect(await page.evaluate("'hit' in window")).toBe(false);
});

test('control characters and those that turn text around are made visible', async () => {
  await openRequest(
    'shop-control',
    shopUpdated('shop-control', { name: `a${RIGHT_TO_LEFT_OVERRIDE}b\u0001c\u200bd` }),
  );
  await open.page.getByRole('button', { name: 'As sent' }).click();
  const text = (await bodyView().textContent()) ?? '';
  expect(text).toContain('shop-control');
  expect(text).not.toContain(RIGHT_TO_LEFT_OVERRIDE);
  expect(text).not.toContain('\u200b');
});

test('a payload of 4 MB, of one line, is shown in part and can be scrolled to its end', async () => {
  const { page } = open;
  await openRequest(
    'shop-large',
    shopUpdated('shop-large', { name: 'x'.repeat(4 * MEGABYTE), end: 'the-end' }),
  );
  await page.getByRole('button', { name: 'As sent' }).click();
  await bodyView().getByText(/xxxx/).first().waitFor();
  expect(await page.locator('.text-row').count()).toBeLessThan(300);
  await bodyView().focus();
  await page.keyboard.press('End');
  await bodyView()
    .getByText(/the-end/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Formatted' }).click();
  await bodyView().getByText(/xxxx/).first().waitFor();
});

test('a payload of 10,000 levels is shown, formatted and as it was sent', async () => {
  const { page } = open;
  const text = JSON.stringify(shopUpdated('shop-deep', { name: 'deep' })).replace(
    '"name":"deep"',
    `"name":"deep","levels":${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  );
  await openRequest('shop-deep', text);
  await bodyView()
    .getByText(/levels/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'As sent' }).click();
  await bodyView()
    .getByText(/\[\[\[\[/)
    .first()
    .waitFor();
});
