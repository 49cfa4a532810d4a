import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addressOf, isLive, OpenConsole, shopUpdated } from './open-console.ts';

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

async function pause(event: string): Promise<void> {
  await open.show('#/queues');
  await open.button(`Pause ${event}`).click();
  const dialog = open.page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('The cache is being moved');
  await dialog.getByRole('button', { name: /^Pause/ }).click();
}

test('after a bad signature, the body is signed and sent', async () => {
  const { page, detail } = open;
  const { body } = await open.partner.post(shopUpdated('shop-unsigned'), { signature: 'wrong' });
  const address = addressOf(body.requestId);
  await open.show(address);
  await open.button('Sign and resend').waitFor();
  await page.keyboard.press('r');
  await page.getByText('Answered 200: queued.').waitFor();
  await detail.getByRole('heading', { name: 'Processed', exact: true }).waitFor();
  await open.show(address);
  await detail.getByText('The same body in 1 other request: Processed').waitFor();
});

test('a delivery of a paused event is resumed', async () => {
  const { page, detail } = open;
  await pause('shop.updated');
  await page.getByText('Paused shop.updated.').waitFor();

  await open.show('#/deliveries?outcome=In+progress');
  await open.partner.post(shopUpdated('shop-paused'));
  await open.select('shop-paused');
  await detail.getByText(/^shop\.updated was paused .* by operator: The cache is being moved\./).waitFor();
  // The key must not send a duplicate, even if the list does not contain the delivery.
  const [, id = ''] = /deliveries\/([^?]+)/.exec(page.url()) ?? [];
  await open.show(`#/deliveries/${id}?search=nothing-matches`);
  await open.page.getByText('No delivery matches').waitFor();
  await open.button('Resume shop.updated').waitFor();
  await page.keyboard.press('r');
  await page.getByText('Resumed shop.updated.').waitFor();
  expect(open.feed.store.list({ search: 'shop-paused' })).toHaveLength(1);
  await detail.getByText('Processed', { exact: true }).first().waitFor();
  await open.output(/Resumed shop\.updated in the local stack\./);
});

test('a failed command says why, until that is closed', async () => {
  const { page } = open;
  await open.show('#/queues');
  await open.button('Pause user.updated').click();
  const dialog = page.getByRole('dialog');
  // Without a reason, the dialog stays.
  await dialog.getByRole('textbox').press('Enter');
  await dialog.getByRole('textbox').fill('Too late');
  // Another user pauses the event first.
  const task = JSON.stringify({ argv: ['pause', 'user.updated', '--reason', 'First'] });
  const headers = "{ 'content-type': 'application/json' }";
  await page.evaluate(
    `fetch('/api/commands', { method: 'POST', headers: ${headers}, body: '${task}' }).then((answer) => answer.text())`,
  );
  await page.getByText('First', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: /^Pause/ }).click();
  await page
    .locator('.notice.tone-bad')
    .getByText(/^user\.updated is already paused/)
    .first()
    .waitFor();
  await open.output(/user\.updated is already paused/);
});

test('a service is broken with a few keys, and cleared, and the header counts faults', async () => {
  const { page } = open;
  await open.show('#/queues');
  await open.button('Break').waitFor();
  await page.keyboard.press('b');
  await page.keyboard.type('SNS');
  await page.keyboard.press('Tab');
  await page.keyboard.type('is s');
  await page.keyboard.press('Enter');
  await page.getByRole('row').getByText('SNS is slow, by 1500 ms').waitFor();
  await page.getByRole('link', { name: 'Queues 1 fault' }).waitFor();
  expect(open.stack.faults.active).toMatchObject([{ service: 'sns', kind: 'slow', milliseconds: 1_500 }]);
  await open.button(/^Clear SNS/).click();
  await page.getByRole('link', { name: 'Queues', exact: true }).waitFor();
});

const rowOf = (page: Page, shop: string) => page.getByRole('row').filter({ hasText: shop });

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
  await hide(other, true);
  await open.show('#/deliveries');
  await open.partner.post(shopUpdated('shop-hidden'));
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
