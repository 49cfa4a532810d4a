import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

/** Posts, and opens its detail. */
async function openDelivery(body: unknown, tab = ''): Promise<string> {
  const requestId = String((await open.partner.post(body)).body.requestId);
  await open.goto(`#/deliveries/${encodeURIComponent(requestId)}${tab}`);
  return requestId;
}

const button = (name: string | RegExp) => open.detail.getByRole('button', { name });
const editor = () => open.page.getByRole('textbox', { name: 'Body' });
const dialog = () => open.page.getByRole('dialog');

test('a delivery shows its outcome with the right action, its effect, and its timeline', async () => {
  const { detail } = open;
  await openDelivery(shopUpdated('shop-outcome'));
  await detail.getByText(/^Finished at/).waitFor();
  await button('Resend').waitFor();
  await detail.getByText('Item added').waitFor();
  await detail.getByRole('link', { name: 'ShopCacheTable' }).waitFor();
  await detail.getByText('attempt 1').waitFor();
  expect(await detail.locator('time').first().getAttribute('title')).toMatch(/UTC$/);
});

test('an item that was there is shown before and after', async () => {
  await openDelivery(shopUpdated('shop-outcome', { updated_fields: ['address'] }));
  await open.detail.getByText('Item changed').waitFor();
  const changed = open.detail.locator('.diff').getByRole('row').filter({ hasText: 'changed from' });
  expect(await changed.count()).toBeGreaterThan(0);
});

test('a delivery without a required field is invalid, and can be edited and sent', async () => {
  const { detail, page } = open;
  await openDelivery({ ...shopUpdated('-'), data: {} });
  await detail.getByText('The answer was 400: invalid or missing: data.shop_id').waitFor();
  await button('Edit and resend').click();
  await editor().fill(JSON.stringify(shopUpdated('shop-corrected')));
  await page.keyboard.press('Control+Enter');
  await detail.getByText('shop-corrected').first().waitFor();
  await detail.getByText(/^Finished at/).waitFor();
});

test('an event without a consumer is parked, and cannot be redriven yet', async () => {
  await openDelivery({ ...shopUpdated('shop-parked'), event: 'shop.renamed' });
  await open.detail.getByText(/No consumer handles this event/).waitFor();
  const redrive = button('Redrive from unrouted');
  expect(await redrive.getAttribute('aria-disabled')).toBe('true');
  expect(await redrive.getAttribute('title')).toContain('no consumer');
  await open.detail.getByRole('link', { name: 'Show the queue' }).waitFor();
});

test('Resend sends the same bytes, which are the same event', async () => {
  await openDelivery(shopUpdated('shop-again'));
  await open.detail.getByText(/^Finished at/).waitFor();
  await open.page.keyboard.press('r');
  await open.page.getByRole('link', { name: 'Show it' }).click();
  await open.detail.getByText('This event was processed before.').waitFor();
  const { deliveries } = open.feed.store.list({ shop: 'shop-again' });
  expect(new Set(deliveries.map(({ eventId }) => eventId)).size).toBe(1);
});

test('the editor opens formatted at the top, and asks before it discards changes', async () => {
  const { page } = open;
  await openDelivery(shopUpdated('shop-editor', { name: 'x'.repeat(20) }));
  await button('Resend').waitFor();
  await page.keyboard.press('e');
  await editor().waitFor();
  expect(await editor().innerText()).toMatch(/^\{\n\s+"event": "shop.updated",\n/);
  await page.keyboard.type(' ');
  await page.keyboard.press('Escape');
  await page.getByText('Discard your changes?').waitFor();
  await page.getByRole('button', { name: 'Keep editing' }).click();
  await page.getByRole('button', { name: 'Undo all' }).click();
  await editor().focus();
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'hidden' });
});

test('the editor sets the timestamp to now, and Tab leaves it', async () => {
  const { page } = open;
  await openDelivery({ ...shopUpdated('shop-dated'), timestamp: '2020-01-01T00:00:00Z' });
  await button('Resend').waitFor();
  await page.keyboard.press('e');
  await editor().waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await editor().getByText(new Date().toISOString().slice(0, 10)).waitFor();
  expect(await editor().innerText()).not.toContain('2020-01-01');
  await page.getByRole('button', { name: 'Close', exact: true }).last().click();
  await page.getByRole('button', { name: 'Discard' }).click();
});

test('text that is not JSON is said to be so, with line and column, and can be sent', async () => {
  const { page, detail } = open;
  await openDelivery(shopUpdated('shop-broken'));
  await button('Resend').waitFor();
  await page.keyboard.press('e');
  await editor().fill('{"event": nothing');
  await page.getByText('Not JSON. Line 1, column 11: a value is expected.').waitFor();
  await page.getByRole('button', { name: 'Sign and send anyway' }).click();
  await detail.getByText('Invalid', { exact: true }).first().waitFor();
});

test('if CodeMirror does not load, a plain field takes its place', async () => {
  const { page, detail } = open;
  await page.route(/code-mirror/, (request) => request.abort());
  await openDelivery(shopUpdated('shop-plain'));
  await button('Resend').waitFor();
  await page.keyboard.press('e');
  await page.locator('textarea.editor').waitFor();
  await editor().fill(JSON.stringify(shopUpdated('shop-of-plain')));
  await page.keyboard.press('Control+Enter');
  await detail.getByText('shop-of-plain').first().waitFor();
  await page.unroute(/code-mirror/);
});
