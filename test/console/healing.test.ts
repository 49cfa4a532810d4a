import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

/** Ten receives take some seconds, as with `npm start -- --retry-fast`. */
const FAST = { FIRST_RETRY_DELAY_SECONDS: '0.01' };

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start({ environment: FAST });
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

test('an event that fails because of a fault becomes a dead letter, and is processed by a redrive after the fault', async () => {
  const { page, partner, detail } = open;
  await open.goto('#/faults');
  await page.getByRole('switch', { name: 'DynamoDB down' }).click();
  await page.getByRole('switch', { name: 'DynamoDB down', checked: true }).waitFor();

  await partner.post(shopUpdated('shop-broken'));
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-broken').getByText('Dead letter').waitFor({ timeout: 50_000 });

  await page.getByRole('link', { name: 'Faults' }).click();
  await page.getByRole('button', { name: 'End all faults' }).click();
  await page.getByRole('switch', { name: 'DynamoDB down', checked: false }).waitFor();

  await page.getByRole('link', { name: 'Dead letters 1' }).click();
  await page.getByRole('heading', { name: '1 dead letter, 1 reason' }).waitFor();
  await page.getByRole('button', { name: 'Redrive all' }).click();
  await page.getByText('No dead letters').waitFor();

  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-broken').getByText('Processed').waitFor();
  await open.select('shop-broken');
  await detail
    .getByText(/redriven/i)
    .first()
    .waitFor();
  await detail.getByText('item added').waitFor();
});

test('the message of a paused event waits on its queue, where its body can be read, until the event is resumed', async () => {
  const { page, partner } = open;
  await open.goto('#/queues');
  await page.getByRole('button', { name: 'Pause shop.updated' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('The cache is being moved');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Pause/ })
    .click();
  await page.getByRole('button', { name: 'Resume shop.updated' }).waitFor();
  await page.getByText('The cache is being moved').first().waitFor();
  // What comes before that is still processed.
  await page.getByText('Paused', { exact: true }).waitFor();

  await partner.post(shopUpdated('shop-paused'));
  await page.getByRole('link', { name: 'shop.updated', exact: true }).click();
  await page.getByText('shop-paused').first().waitFor();
  await page.getByRole('button', { name: /^Body of / }).click();
  await page.getByText('"shop_id": "shop-paused"').waitFor();

  await page.getByRole('button', { name: 'Resume shop.updated' }).click();
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-paused').getByText('Processed').waitFor();
});

test('the receiver is killed, and the next delivery is accepted by another one', async () => {
  const { page, partner } = open;
  await open.goto('#/faults');
  await page.getByRole('button', { name: 'Kill now: receiver' }).click();
  // Until then it may have been killed with that delivery in hand, which is answered 500.
  await page.getByText('receiver was killed, with any work in progress.').waitFor();
  expect((await partner.post(shopUpdated('shop-after-the-kill'))).status).toBe(200);
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-after-the-kill').getByText('Processed').waitFor();
});
