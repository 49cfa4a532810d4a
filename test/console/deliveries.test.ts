import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
});
afterAll(() => open[Symbol.asyncDispose]());
beforeEach(() => open.goto(''));
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

test('where nothing has come yet, one button sends the first event and shows its way to the row', async () => {
  const { page, detail } = open;
  await page.getByRole('button', { name: 'Send the first event' }).click();
  await detail.getByText('processed', { exact: true }).first().waitFor();
  await detail.getByRole('heading', { name: 'shop.updated' }).waitFor();
  await detail.getByText('item added').waitFor();
  await detail.getByRole('link', { name: 'ShopCacheTable' }).waitFor();
});

test('the second event of a shop shows the row before and after, as a difference', async () => {
  const { partner, detail } = open;
  await partner.post(shopUpdated('shop-twice', { updated_fields: ['name'] }));
  await open.row('shop-twice').getByText('processed').waitFor();
  await partner.post(shopUpdated('shop-twice', { updated_fields: ['address'] }));
  const second = open.row('shop-twice').first();
  await countOf(() => open.row('shop-twice').count(), 2);
  await second.getByText('processed').waitFor();
  await open.select('shop-twice');
  await detail.getByText('item changed').waitFor();
  const diff = detail.locator('.diff');
  await diff.getByText('address').waitFor();
  expect(await diff.getByRole('row').filter({ hasText: 'changed from' }).count()).toBeGreaterThan(0);
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
  await page.getByRole('button', { name: 'Clear' }).click();
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

test('an edited body is signed anew and sent, also where it is no JSON', async () => {
  const { page, partner, detail } = open;
  await partner.post(shopUpdated('shop-edited'));
  await open.select('shop-edited');
  await page.keyboard.press('e');
  const editor = page.getByRole('textbox', { name: 'Body' });
  await editor.fill(JSON.stringify(shopUpdated('shop-of-the-editor')));
  await page.getByRole('button', { name: 'Sign and send' }).click();
  await detail.getByText('shop-of-the-editor').first().waitFor();
  await detail.getByText('processed', { exact: true }).first().waitFor();

  await page.keyboard.press('e');
  await editor.fill('{"event": nothing');
  await page.getByText(/^No JSON\./).waitFor();
  await page.getByRole('button', { name: 'Sign and send all the same' }).click();
  await detail.getByText('Invalid', { exact: true }).first().waitFor();
});

test('`r` sends the same bytes once more, which are the same event', async () => {
  const { page, partner } = open;
  await partner.post(shopUpdated('shop-again'));
  await open.select('shop-again');
  await page.keyboard.press('r');
  await page.getByRole('link', { name: 'Show it' }).click();
  await page.keyboard.press('n');
  await countOf(() => open.row('shop-again').count(), 2);
  const ids = open.feed.store.list({ shop: 'shop-again' }).deliveries;
  expect(new Set(ids.map(({ eventId }) => eventId)).size).toBe(1);
});

describe('selecting a delivery', () => {
  test('stops the scrolling: what is new is counted, and one key leads to it', async () => {
    const { page, partner } = open;
    await open.select('shop-again');
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

  test('is done by j and k, and Escape leaves it', async () => {
    const { page } = open;
    await open.rows.first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const second = await open.rows.nth(1).getAttribute('data-id');
    expect(page.url()).toContain(encodeURIComponent(second ?? ''));
    await page.keyboard.press('k');
    const first = await open.rows.first().getAttribute('data-id');
    expect(page.url()).toContain(encodeURIComponent(first ?? ''));
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).hash).toBe('#/deliveries');
  });
});

/** Waits until the page has so many. */
async function countOf(count: () => Promise<number>, wanted: number): Promise<void> {
  const deadline = Date.now() + 15_000;
  while ((await count()) !== wanted && Date.now() < deadline) await open.page.waitForTimeout(50);
  expect(await count()).toBe(wanted);
}
