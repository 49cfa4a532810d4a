import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { addressOf, OpenConsole, shopUpdated } from './open-console.ts';

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

test('after a bad signature, the body is signed and sent; as received, it is refused again', async () => {
  const { page, detail } = open;
  const { body } = await open.partner.post(shopUpdated('shop-unsigned'), { signature: 'wrong' });
  const address = addressOf(body.requestId);
  await open.show(address);
  await open.button('Sign and resend').waitFor();
  await open.button('More actions').click();
  await page.getByRole('menuitem', { name: 'Resend as received' }).click();
  await page.getByText('Answered 401: Invalid signature.').waitFor();
  // The page opens what it sent. A key acts on what is open.
  await detail.getByText(/^again, as request /).waitFor();
  await page.keyboard.press('r');
  await page.getByText('Answered 200: queued.').waitFor();
  await detail.getByRole('heading', { name: 'Processed', exact: true }).waitFor();
  await open.show(address);
  await detail.getByText('The same body in 2 other requests: Processed').waitFor();
});

test('a delivery of a paused event is resumed, but not while the pause is being set', async () => {
  const { page, detail } = open;
  await pause('shop.updated');
  const pausing = open.button('Pausing … shop.updated');
  await pausing.waitFor();
  expect(await pausing.getAttribute('aria-disabled')).toBe('true');
  await page.getByText('Paused shop.updated.').waitFor();

  await open.show('#/deliveries?outcome=in-progress');
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
    .locator('.notice.is-error')
    .getByText(/^user\.updated is already paused/)
    .first()
    .waitFor();
  await open.output(/user\.updated is already paused/);
});

test('a service is broken and cleared, and the header counts faults', async () => {
  const { page } = open;
  await open.show('#/queues');
  await page.getByLabel('How').selectOption('is slow');
  await page.getByLabel('Calls in %').fill('60');
  await open.button('Break').click();
  await page.getByRole('row').getByText('DynamoDB is slow, by 1500 ms, 60 % of calls').waitFor();
  await page.getByRole('link', { name: 'Queues 1 fault' }).waitFor();
  expect(open.stack.faults.active).toMatchObject([{ kind: 'slow', milliseconds: 1_500, share: 0.6 }]);
  await open.button(/^Clear DynamoDB/).click();
  await page.getByRole('link', { name: 'Queues', exact: true }).waitFor();
});

test('the number of messages that need somebody is the same in the header, the list, Needs you and Queues', async () => {
  const { page } = open;
  await open.partner.post({ event: 'shop.closed', data: {}, timestamp: new Date().toISOString() });
  await open.partner.post('no event');
  await open.show('#/deliveries');
  await page.getByRole('link', { name: 'Needs you 2' }).waitFor();
  await page.getByRole('button', { name: 'Needs you 2' }).waitFor();
  await open.show('#/needs-you');
  await page.getByRole('heading', { name: /^2 messages/ }).waitFor();
  await open.button('Discard all …').click();
  await page.getByRole('dialog').getByRole('textbox').fill('A test');
  await open.button(/^Discard$/).click();
  await page.getByText('Nothing needs you').waitFor();
  await page.getByRole('link', { name: 'Needs you', exact: true }).waitFor();
  await open.show('#/deliveries');
  await page.getByRole('button', { name: 'Needs you 0' }).waitFor();
});
