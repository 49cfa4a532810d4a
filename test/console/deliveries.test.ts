import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { exchangeOf } from './measure.ts';
import { OpenConsole, shopUpdated } from './open-console.ts';

/** What fails becomes a dead letter soon. */
const environment = { FIRST_RETRY_DELAY_SECONDS: '0.01', MAXIMUM_RECEIVES: '2' };

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start({ environment });
});
afterAll(() => open[Symbol.asyncDispose]());
beforeEach(async () => {
  // A list that a selection holds is let go.
  await open.show('#/queues');
  await open.page.locator('.deliveries-table').waitFor({ state: 'hidden' });
  await open.show('#/deliveries');
});
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

/** Posts for some shops. */
async function post(...shops: string[]): Promise<void> {
  for (const shop of shops) await open.partner.post(shopUpdated(shop));
}

const hash = () => open.page.evaluate('location.hash');
const press = (key: string) => open.page.keyboard.press(key);
const clearFilters = () => open.page.getByRole('button', { name: 'Clear filters' }).last().click();

test('if nothing has come yet, one button sends the first event and shows its way to the item', async () => {
  await using empty = await OpenConsole.start();
  const { detail } = empty;
  await empty.button('Send the first event').click();
  await detail.getByText('Processed', { exact: true }).first().waitFor();
  await detail.getByRole('heading', { name: 'shop.updated' }).waitFor();
  await detail.getByText('Item added').waitFor();
  await detail.getByRole('link', { name: 'ShopCacheTable' }).waitFor();
});

describe('the list', () => {
  test('is filtered by part of a shop id, by outcome and by time, and its address has the filters', async () => {
    const { page } = open;
    await post('shop-of-Osaka-1', 'shop-of-osaka-2');
    await open.partner.post(shopUpdated('shop-of-osaka-2'), { signature: 'wrong' });
    await page.getByRole('textbox', { name: 'Shop' }).fill('OSAKA');
    await open.rowCount(2);
    expect(await hash()).toContain('shop=OSAKA');
    await clearFilters();
    await open.button(/^Failed/).click();
    await open.row('Bad signature').first().waitFor();
    await open.row('shop-of-Osaka-1').waitFor({ state: 'hidden' });
    await clearFilters();

    await page.getByRole('slider').focus();
    for (const key of ['Home', 'Shift+End', 'Enter']) await press(key);
    await page.waitForFunction("location.hash.includes('until=')");
    await open.row('shop-of-Osaka-1').waitFor();
    await clearFilters();
  });

  test('that is cleared shows only what comes later, until the filters are cleared', async () => {
    await post('shop-earlier');
    await open.row('shop-earlier').waitFor();
    await open.button('Clear list').click();
    await open.rowCount(0);
    await post('shop-later');
    await open.row('shop-later').waitFor();
    await open.rowCount(1);
    await clearFilters();
    await open.row('shop-earlier').waitFor();
  });

  test('has a search of payloads, to which what comes later is added if it fits', async () => {
    const { page } = open;
    await open.partner.post(shopUpdated('shop-a', { name: 'Hidden in the payload' }));
    await open.row('shop-a').waitFor();
    // It has the focus before the next key, however fast that comes.
    const pressed = "dispatchEvent(new KeyboardEvent('keydown', { key: '/' })); document.activeElement.id";
    expect(await page.evaluate(pressed)).toBe('search');
    await page.keyboard.type('hidden IN');
    await press('Enter');
    await open.rowCount(1);
    expect(await page.locator('#search').inputValue()).toBe('hidden IN');
    await open.partner.post(shopUpdated('shop-b', { name: 'Seen by all' }));
    await open.partner.post(shopUpdated('shop-c', { name: 'Hidden in the next one' }));
    await open.row('shop-c').waitFor();
    await open.rowCount(2);
    await press('ArrowDown');
    await open.detail.getByText('shop-c').first().waitFor();
    expect(await hash()).toContain('search=hidden');
    await press('Escape');
    await clearFilters();
    await open.row('shop-b').waitFor();
  });

  test('resends several deliveries that are ticked', async () => {
    await post('shop-ticked-1', 'shop-ticked-2');
    for (const shop of ['shop-ticked-1', 'shop-ticked-2']) {
      await open.row(shop).getByText('Processed').waitFor();
      await open.row(shop).getByRole('checkbox').check();
    }
    await open.page.getByText('2 deliveries selected').waitFor();
    await open.button(/^Resend/).click();
    await press('n');
    await open.row('shop-ticked').nth(3).waitFor();
  });

  test('of thousands draws only those in view, also on a narrow page, and the last is a key away', async () => {
    const { page, feed } = open;
    const many = 3_000;
    for (let number = 0; number < many; number += 1) feed.onExchange(exchangeOf(number));
    await open.show('#/deliveries?shop=measured');
    await open.row(`measured-${many - 1}`).waitFor();
    expect(await open.rows.count()).toBeLessThan(200);
    const list = page.getByRole('grid', { name: /^Deliveries/ });
    // With the row of headings.
    expect(await list.getAttribute('aria-rowcount')).toBe(String(many + 1));
    await list.focus();
    await press('End');
    await open.row('measured-0').first().waitFor();
    const selected = open.rows.and(page.locator('[aria-selected=true]'));
    expect(await selected.getAttribute('aria-rowindex')).toBe(String(many + 1));
    await press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
    await open.rows.first().waitFor();
    expect(await open.rows.count()).toBeLessThan(200);
    await page.setViewportSize({ width: 1440, height: 900 });
    await clearFilters();
  });
});

describe('a selected delivery', () => {
  test('stops the scrolling: what is new is counted, and one key leads to it', async () => {
    await post('shop-selected');
    await open.select('shop-selected');
    const before = await open.rows.first().getAttribute('data-id');
    await post('shop-new');
    await open.button('1 new').waitFor();
    expect(await open.rows.first().getAttribute('data-id')).toBe(before);
    await press('n');
    await open.row('shop-new').waitFor();
  });

  test('has an address that opens the same view', async () => {
    const { page, detail } = open;
    await post('shop-linked');
    await open.select('shop-linked');
    await press('l');
    await page.getByText('Link copied').waitFor();
    const address = String(await page.evaluate('navigator.clipboard.readText()'));
    await page.goto('about:blank');
    await page.goto(address);
    await detail.getByText('shop-linked').first().waitFor();
  });

  test('gives a curl command that works as it stands', async () => {
    const { page, partner } = open;
    await partner.post(shopUpdated('shop-curl', { name: 'It\'s "quoted" $HOME `id` \\n é 漢 🙂' }));
    await open.select('shop-curl');
    await press('c');
    await page.getByText('Copied as curl').waitFor();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    expect(stdout).toContain('"status":"queued"');
    await press('n');
    await open.row('shop-curl').nth(1).waitFor();
  });

  test('changes by j and k from anywhere', async () => {
    const { detail } = open;
    await post('shop-keys-1', 'shop-keys-2');
    await open.show('#/deliveries?shop=shop-keys');
    await open.rowCount(2);
    for (const key of ['j', 'j']) await press(key);
    await detail.getByText('shop-keys-1').first().waitFor();
    await detail.getByText('Timeline').click();
    await press('k');
    await detail.getByText('shop-keys-2').first().waitFor();
  });

  test('shares the page with the list at a place that is dragged, set by keys, and remembered', async () => {
    const { page } = open;
    await post('shop-split');
    await open.rows.first().waitFor();
    const list = page.getByRole('grid', { name: /^Deliveries/ });
    const whole = await list.evaluate((grid) => grid.clientWidth);
    await press('j');
    const splitter = page.getByRole('separator', { name: 'Width of the list' });
    const box = await splitter.boundingBox();
    await page.mouse.move(box?.x ?? 0, 400);
    await page.mouse.down();
    await page.mouse.move(500, 400);
    await page.mouse.up();
    expect(await splitter.getAttribute('aria-valuenow')).toBe('35');
    await splitter.focus();
    await press('ArrowRight');
    await open.goto('#/deliveries');
    expect(await list.evaluate((grid) => grid.clientWidth)).toBe(whole);
    await press('j');
    expect(await splitter.getAttribute('aria-valuenow')).toBe('37');
  });
});

test('what fails because of a fault becomes a dead letter, and is processed by a redrive after the fault', async () => {
  const { page } = open;
  await open.show('#/faults');
  await page.getByRole('switch', { name: 'DynamoDB down' }).click();
  await page.getByRole('switch', { name: 'DynamoDB down', checked: true }).waitFor();
  await post('shop-dead-1', 'shop-dead-2');
  await page.getByRole('link', { name: 'Dead letters 2' }).waitFor();
  await open.button('End all faults').click();
  await page.getByRole('switch', { name: 'DynamoDB down', checked: false }).waitFor();

  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-dead-1').getByText('Dead letter').waitFor();
  await open.row('shop-dead-1').getByRole('checkbox').check();
  await open.button(/^Redrive/).click();
  await open.row('shop-dead-1').getByText('Processed').waitFor();

  await page.getByRole('link', { name: 'Dead letters 1' }).click();
  await page.getByRole('heading', { name: '1 dead letter, 1 reason' }).waitFor();
  await open.button('Redrive all').click();
  await page.getByText('No dead letters').waitFor();
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.select('shop-dead-2');
  await open.detail.getByText('item added').waitFor();
});

test('the message of a paused event waits on its queue, where its body can be read, until it is resumed', async () => {
  const { page } = open;
  await open.show('#/queues');
  await open.button('Pause shop.updated').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('The cache is being moved');
  await dialog.getByRole('button', { name: /^Pause/ }).click();
  await page.getByText('The cache is being moved').first().waitFor();
  // What comes before that is still processed.
  await open.taskOutput(/^Paused\. /);

  await post('shop-paused');
  await page.getByRole('link', { name: 'shop.updated', exact: true }).click();
  await open.button(/^Body of /).click();
  await page.getByText('"shop_id": "shop-paused"').waitFor();
  await open.button('Resume shop.updated').click();
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await open.row('shop-paused').getByText('Processed').waitFor();
});

test('while the console is away the page says so, and afterwards it has every delivery once', async () => {
  const { page } = open;
  await open.show('#/deliveries?shop=shop-away');
  await post('shop-away-1');
  await open.rowCount(1);
  await open.withoutConsole(async () => {
    await page.getByText('Reconnecting').waitFor();
    await post('shop-away-2', 'shop-away-3');
  });
  await page.getByText('Connected', { exact: true }).waitFor();
  await open.row('shop-away-3').getByText('Processed').waitFor();
  await open.rowCount(3);
  // Another console has another cookie.
  await open.goto('');
});

/** The browser shows all pages of a test. Others are hidden as a browser hides them. */
const hide = (page: Page, hidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

test('a hidden tab releases its connection, of which a browser has six, and catches up when it is seen', async () => {
  const { context, url } = open;
  const other = await context.newPage();
  await other.goto(url);
  await other.getByText('Connected', { exact: true }).waitFor();
  await hide(other, true);
  await post('shop-hidden');
  await open.row('shop-hidden').getByText('Processed').waitFor();
  const row = other.getByRole('row').filter({ hasText: 'shop-hidden' });
  expect(await row.count()).toBe(0);
  await hide(other, false);
  await row.getByText('Processed').waitFor();
  expect(await row.count()).toBe(1);
  await other.close();
});
