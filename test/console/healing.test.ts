import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

/** By which ten receives take some seconds, as with `npm start -- --retry-fast`. */
const FAST = { FIRST_RETRY_DELAY_SECONDS: '0.01' };

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start({ environment: FAST });
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

test('a fault is switched on, an event becomes a dead letter, the fault is ended, and a redrive has the effect', async () => {
  const { page, partner, detail } = open;
  await open.goto('#/faults');
  await page.getByRole('switch', { name: 'DynamoDB down' }).click();
  await page.getByRole('switch', { name: 'DynamoDB down', checked: true }).waitFor();

  await partner.post(shopUpdated('shop-broken'));
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-broken').getByText('dead letter').waitFor({ timeout: 50_000 });

  await page.getByRole('link', { name: 'Faults' }).click();
  await page.getByRole('button', { name: 'End all faults' }).click();
  await page.getByRole('switch', { name: 'DynamoDB down', checked: false }).waitFor();

  await page.goto(`${open.url}#/queues/dead-letters`);
  await page.getByRole('heading', { name: '1 dead letter, one reason' }).waitFor();
  await page.getByRole('button', { name: 'Redrive all' }).click();
  await page.getByText('No dead letters').waitFor();

  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-broken').getByText('processed').waitFor();
  await open.select('shop-broken');
  await detail
    .getByText(/redriven/i)
    .first()
    .waitFor();
  await detail.getByText('item added').waitFor();
});

test('a paused event waits on its queue, can be looked at there, and goes on', async () => {
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

  await page.getByRole('button', { name: 'Resume shop.updated' }).click();
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-paused').getByText('processed').waitFor();
});

test('the receiver is killed, and the next delivery is accepted by another one', async () => {
  const { page, partner } = open;
  await open.goto('#/faults');
  await page.getByRole('button', { name: /^Kill .*receiver.* now$/i }).click();
  // Until then it may have been killed with that delivery in hand, which is answered 500.
  await page.getByText(/receiver.* was killed, with whatever it had in hand/i).waitFor();
  expect((await partner.post(shopUpdated('shop-after-the-kill'))).status).toBe(200);
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-after-the-kill').getByText('processed').waitFor();
});
