import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start({ environment: { FIRST_RETRY_DELAY_SECONDS: '0.01' } });
});
afterAll(() => open[Symbol.asyncDispose]());
beforeEach(() => open.goto(''));
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

test('where nothing has come yet, one button sends the first event and shows its way to the row', async () => {
  const { page, detail } = open;
  await page.getByRole('button', { name: 'Send the first event' }).click();
  await detail.getByText('Processed', { exact: true }).first().waitFor();
  await detail.getByRole('heading', { name: 'shop.updated' }).waitFor();
  await detail.getByText('Item added').waitFor();
  await detail.getByRole('link', { name: 'ShopCacheTable' }).waitFor();
});

test('the filters of the page are in its address: part of a shop id, a count of the strip, a time range', async () => {
  const { page, partner } = open;
  for (const shop of ['shop-of-Osaka-1', 'shop-of-osaka-2', 'shop-twice'])
    await partner.post(shopUpdated(shop));
  await partner.post(shopUpdated('shop-of-osaka-2'), { signature: 'wrong' });
  await open.row('shop-twice').getByText('Processed').waitFor();
  await page.getByRole('textbox', { name: 'Shop' }).fill('OSAKA');
  await countOf(() => open.rows.count(), 2);
  expect(await address()).toContain('shop=OSAKA');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  const failed = page.getByRole('button', { name: /^Failed/ });
  await failed.click();
  await countOf(() => open.rows.count(), 1);
  await open.row('Bad signature').waitFor();
  await failed.click();
  await open.row('shop-twice').waitFor();

  const bars = page.getByRole('slider');
  await bars.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.press('Enter');
  await page.waitForFunction("location.hash.includes('until=')");
  await open.row('shop-twice').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
});

test('an address with an unknown filter says so', async () => {
  await open.goto('#/deliveries?state=lost');
  await open.page.getByRole('alert').getByText(/lost/).waitFor();
  await open.page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().click();
  await open.rows.first().waitFor();
});

test('a cleared list shows only what comes later, until the filters are cleared', async () => {
  const { page, partner } = open;
  await page.getByRole('button', { name: 'Clear list' }).click();
  await countOf(() => open.rows.count(), 0);
  await partner.post(shopUpdated('shop-later'));
  await open.row('shop-later').waitFor();
  expect(await open.rows.count()).toBe(1);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await open.row('shop-twice').first().waitFor();
});

test('several deliveries are selected and sent again', async () => {
  const { page, partner } = open;
  for (const shop of ['shop-many-1', 'shop-many-2']) await partner.post(shopUpdated(shop));
  for (const shop of ['shop-many-1', 'shop-many-2']) {
    await open.row(shop).getByText('Processed').waitFor();
    await open.row(shop).getByRole('checkbox').check();
  }
  await page.getByText('2 deliveries selected').waitFor();
  await page.getByRole('button', { name: /^Resend/ }).click();
  await page.keyboard.press('n');
  await countOf(() => open.row('shop-many').count(), 4);
});

test('several dead letters are selected and redriven, and the navigation counts them', async () => {
  const { page, partner, stack } = open;
  const end = stack.faults.inject({ service: 'dynamodb', kind: 'down' });
  for (const shop of ['shop-dead-1', 'shop-dead-2']) await partner.post(shopUpdated(shop));
  for (const shop of ['shop-dead-1', 'shop-dead-2']) await open.row(shop).getByText('Dead letter').waitFor();
  await page.getByRole('link', { name: 'Dead letters 2' }).waitFor();
  end();
  for (const shop of ['shop-dead-1', 'shop-dead-2']) await open.row(shop).getByRole('checkbox').check();
  await page.getByRole('button', { name: /^Redrive/ }).click();
  for (const shop of ['shop-dead-1', 'shop-dead-2']) await open.row(shop).getByText('Processed').waitFor();
  await page.getByRole('link', { name: 'Dead letters', exact: true }).waitFor();
});

test('a search looks into payloads, and what comes later appears only where it fits', async () => {
  const { page, partner } = open;
  await partner.post(shopUpdated('shop-a', { name: 'Hidden in the payload' }));
  await open.row('shop-a').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('hidden IN');
  await open.row('shop-twice').first().waitFor({ state: 'hidden' });
  expect(await open.row('shop-a').count()).toBe(1);
  await partner.post(shopUpdated('shop-b', { name: 'Seen by all' }));
  await partner.post(shopUpdated('shop-c', { name: 'Hidden in the next one' }));
  await open.row('shop-c').waitFor();
  expect(await open.row('shop-b').count()).toBe(0);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await open.row('shop-b').waitFor();
});

test('Enter in the search box searches, and leads into the list', async () => {
  const { page } = open;
  await page.locator('#search').fill('hidden in the next');
  await page.keyboard.press('Enter');
  await countOf(() => open.rows.count(), 1);
  expect(await page.locator('#search').inputValue()).toBe('hidden in the next');
  await page.keyboard.press('ArrowDown');
  await open.detail.getByText('shop-c').first().waitFor();
  expect(page.url()).toContain('search=hidden');
});

describe('selecting a delivery', () => {
  test('stops the scrolling: what is new is counted, and one key leads to it', async () => {
    const { page, partner } = open;
    await open.select('shop-twice');
    const before = await open.rows.first().getAttribute('data-id');
    await partner.post(shopUpdated('shop-new'));
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await open.rows.first().getAttribute('data-id')).toBe(before);
    await page.keyboard.press('n');
    await open.row('shop-new').waitFor();
  });

  test('has an address that opens the same view', async () => {
    const { page, detail } = open;
    await open.select('shop-new');
    await page.keyboard.press('l');
    const address = String(await page.evaluate('navigator.clipboard.readText()'));
    await page.goto('about:blank');
    await page.goto(address);
    await detail.getByText('shop-new').first().waitFor();
  });

  test('gives a curl command that works as it stands', async () => {
    const { page, partner } = open;
    const name = 'It\'s "quoted" $HOME `id` \\n é 漢 🙂';
    await partner.post(shopUpdated('shop-curl', { name }));
    await open.select('shop-curl');
    await page.keyboard.press('c');
    await page.getByText('Copied as curl').waitFor();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    expect(stdout).toContain('"status":"queued"');
    await page.keyboard.press('n');
    await countOf(() => open.row('shop-curl').count(), 2);
  });

  test('is done by j and k from anywhere, Enter goes into it, and Escape leaves it', async () => {
    const { page, detail } = open;
    await open.rows.first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await selectedIs(1);
    await detail.getByText('Timeline').click();
    await page.keyboard.press('k');
    await selectedIs(0);
    await page.keyboard.press('Enter');
    await page.waitForFunction("document.activeElement.id === 'detail'");
    await page.keyboard.press('Escape');
    await page.waitForFunction("location.hash === '#/deliveries'");
  });

  test('shares the page with the list at a place that is dragged, set by keys, and remembered', async () => {
    const { page } = open;
    const list = page.getByRole('grid', { name: /^Deliveries/ });
    const whole = await list.evaluate((grid) => grid.clientWidth);
    await page.keyboard.press('j');
    const splitter = page.getByRole('separator', { name: 'Width of the list' });
    const box = await splitter.boundingBox();
    await page.mouse.move(box?.x ?? 0, 400);
    await page.mouse.down();
    await page.mouse.move(500, 400);
    await page.mouse.up();
    expect(await splitter.getAttribute('aria-valuenow')).toBe('35');
    await splitter.focus();
    await page.keyboard.press('ArrowRight');
    await open.goto('#/deliveries');
    expect(await list.evaluate((grid) => grid.clientWidth)).toBe(whole);
    await page.keyboard.press('j');
    expect(await splitter.getAttribute('aria-valuenow')).toBe('37');
  });
});

const address = () => open.page.evaluate('location.hash');

/** Playwright's own address may lag behind a key. */
const selectedIs = async (index: number) => {
  const id = await open.rows.nth(index).getAttribute('data-id');
  const hash = JSON.stringify(`#/deliveries/${encodeURIComponent(id ?? '')}`);
  await open.page.waitForFunction(`location.hash === ${hash}`);
};

/** Waits until the page has so many. */
async function countOf(count: () => Promise<number>, wanted: number): Promise<void> {
  const deadline = Date.now() + 15_000;
  while ((await count()) !== wanted && Date.now() < deadline) await open.page.waitForTimeout(50);
  expect(await count()).toBe(wanted);
}
