import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.ts';
import { addressOf, isLive, OpenConsole, shopUpdated } from './open-console.ts';

/** Settings of consumers with which a failing delivery becomes a dead letter after two quick attempts. */
const environment = { FIRST_RETRY_DELAY_SECONDS: '0.01', MAXIMUM_RECEIVES: '2' };

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start({ environment });
});
afterAll(() => open[Symbol.asyncDispose]());
beforeEach(async () => {
  // Leaving the view unfreezes a list that a selection has frozen.
  await open.show('#/queues');
  await open.page.locator('.deliveries-table').waitFor({ state: 'hidden' });
  await open.show('#/deliveries');
});
afterEach(() => {
  open.stack.faults.clear();
  expect(open.wrongs).toEqual([]);
});

async function post(...shops: string[]): Promise<void> {
  for (const shop of shops) await open.partner.post(shopUpdated(shop));
}

const hash = async () => String(await open.page.evaluate('location.hash'));
const press = (key: string) => open.page.keyboard.press(key);

test('without any delivery, one button sends the first event and leads to its item', async () => {
  await using empty = await OpenConsole.start();
  const { detail } = empty;
  await empty.button('Send the first event').click();
  await detail.getByText('Processed', { exact: true }).first().waitFor();
  await detail.getByText('Item added').waitFor();
  // The button that had the focus is gone.
  await empty.page.locator(':is(.deliveries-table, #detail):focus').waitFor();
});

describe('the list', () => {
  test('can be filtered by part of a shop id, also of refused requests, and by outcome', async () => {
    const { page } = open;
    await post('shop-of-Osaka-1', 'shop-of-osaka-2');
    await open.partner.post(shopUpdated('shop-of-osaka-3'), { signature: 'wrong' });
    await page.locator('#search').fill('shop:OSAKA');
    await page.waitForURL(/search=shop%3AOSAKA$/);
    await open.rowCount(3);
    await open.button(/^Rejected/).click();
    await open.rowCount(1);
    await open.row('Bad signature').getByTitle('shop-of-osaka-3: not verified').waitFor();
    await page.goBack();
    await open.rowCount(3);
    await page.goBack();
    await eventually(async () => (await page.locator('#search').inputValue()) === '' || undefined);
    expect(await hash()).toBe('#/deliveries');
  });

  test('can be searched by payload, and adds new deliveries that match', async () => {
    const { page } = open;
    await open.partner.post(shopUpdated('shop-quiet-1', { name: 'Hidden in the payload' }));
    await open.row('shop-quiet-1').waitFor();
    // The search box must have the focus before the next key.
    const pressed = "dispatchEvent(new KeyboardEvent('keydown', { key: '/' })); document.activeElement.id";
    expect(await page.evaluate(pressed)).toBe('search');
    await page.keyboard.type('hidden IN');
    // Enter during composition belongs to the input method and must not leave the field.
    await page.locator('#search').dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    expect(await page.evaluate('document.activeElement.id')).toBe('search');
    await press('Enter');
    await open.rowCount(1);
    expect(await page.locator('#search').inputValue()).toBe('hidden IN');
    await open.partner.post(shopUpdated('shop-loud', { name: 'Seen by all' }));
    await open.partner.post(shopUpdated('shop-quiet-2', { name: 'Hidden in the next one' }));
    await open.row('shop-quiet-2').waitFor();
    await open.rowCount(2);
    await press('ArrowDown');
    await open.detail.getByText('shop-quiet-2').first().waitFor();
    expect(await hash()).toContain('search=hidden');
    await press('Escape');
    await open.button('Clear filters').click();
    await open.row('shop-loud').waitFor();
  });
});

test('the key of the search also brings it into view, on a page of 1280 by 1024 pixels that is zoomed to 400 %', async () => {
  const { page } = open;
  await post('shop-small');
  await page.setViewportSize({ width: 320, height: 256 });
  await open.row('shop-small').scrollIntoViewIfNeeded();
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await press('/');
  const top = await page.locator('#search:focus').evaluate((search) => search.getBoundingClientRect().top);
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(top).toBeGreaterThanOrEqual(0);
});

describe('a selected delivery', () => {
  test('stops scrolling: new deliveries are counted, and one key shows them', async () => {
    await post('shop-selected');
    await open.select('shop-selected');
    const before = await open.rows.first().getAttribute('data-id');
    await post('shop-new');
    await open.button('1 new').waitFor();
    expect(await open.rows.first().getAttribute('data-id')).toBe(before);
    await press('n');
    await open.row('shop-new').waitFor();
  });

  test('changes with j and k from anywhere', async () => {
    const { detail } = open;
    await post('shop-keys-1', 'shop-keys-2');
    await open.show('#/deliveries?search=shop:shop-keys');
    await open.rowCount(2);
    for (const key of ['3', '1', 'ArrowDown', 'j']) await press(key);
    await detail.getByText('shop-keys-1').first().waitFor();
    await detail.getByText('Timeline').click();
    await press('k');
    await detail.getByText('shop-keys-2').first().waitFor();
  });
});

test('dead letters are redriven one by one, by shop or selected; others are filtered, read and discarded', async () => {
  const { page, stack } = open;
  const end = stack.faults.inject({ service: 'dynamodb', kind: 'down' });
  await post(...['2', '3', '4', '5', '6'].map((number) => `shop-dead-${number}`));
  await open.partner.post('no event');
  await page.getByRole('link', { name: 'Needs you 6' }).waitFor();
  end();
  await open.row('shop-dead-2').getByText('Dead letter').click();
  await open.detail.getByRole('button', { name: 'Redrive' }).click();
  await open.detail.getByText(/^Finished at/).waitFor();
  await open.show('#/queues');
  await page.getByRole('link', { name: '1 messages of quarantine need you' }).click();
  await page.getByRole('heading', { name: '1 message, 1 reason' }).waitFor();
  await open.button('no event').click();
  await page
    .getByRole('textbox', { name: /^Payload of / })
    .getByText('no event')
    .waitFor();
  await open.button('Discard all …').click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Reason' }).fill('A test');
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByText('Discarded 1 message of quarantine.').waitFor();
  await page.getByText('No message matches').waitFor();

  await open.show('#/needs-you');
  await page.getByRole('heading', { name: '4 messages, 1 reason' }).waitFor();
  await page.getByRole('combobox', { name: 'Queue or shop' }).fill('shop-dead-4');
  await page.getByRole('heading', { name: '1 message, 1 reason' }).waitFor();
  await open.button('Redrive all').click();
  await page.getByText('No message matches').waitFor();
  await page.getByRole('combobox', { name: 'Queue or shop' }).fill('');
  const row = page.locator('.card .tr').filter({ hasText: 'shop-dead-5' });
  await row.getByRole('checkbox').check();
  await open.button('Redrive 1 selected').click();
  await page.getByRole('heading', { name: '2 messages, 1 reason' }).waitFor();
  await open.button('Redrive all').waitFor();
  // By keyboard, one after the other: the focus goes to what is left.
  await page.locator('.card .tr .col-act button').first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: '1 message, 1 reason' }).waitFor();
  await page.locator('.card .tr .col-act button:focus').press('Enter');
  await page.locator('#main:focus').waitFor();
  await page.getByText('Nothing needs you').waitFor();
});

test('the page says when the console is gone, and later shows every delivery once', async () => {
  const { page } = open;
  await open.show('#/deliveries?search=shop:shop-away');
  await post('shop-away-1');
  await open.rowCount(1);
  await press('j');
  await open.detail.getByText(/^Finished at/).waitFor();
  await press('e');
  await editor().fill(JSON.stringify(shopUpdated('shop-away-4')));
  await open.withoutConsole(async () => {
    await page.getByText('Not connected. This is the state at').waitFor();
    await post('shop-away-2', 'shop-away-3');
  });
  await isLive(page);
  // The new process has another cookie. The page gets it, and what was typed is not lost.
  await press('Control+Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await open.row('shop-away-4').getByText('Processed').waitFor();
  await open.rowCount(4);
});

const button = (name: string | RegExp) => open.detail.getByRole('button', { name });

describe('a delivery', () => {
  test('shows its outcome with the right action, its effect, and its timeline', async () => {
    const { detail } = open;
    await open.showDelivery(shopUpdated('shop-outcome'));
    await detail.getByText(/^Finished at/).waitFor();
    await button('Send as new event').waitFor();
    await detail.getByText('Item added').waitFor();
    await detail.getByText('attempt 1').waitFor();
    expect(await detail.locator('time').first().getAttribute('title')).toMatch(/UTC$/);
    await open.showDelivery(shopUpdated('shop-outcome', { updated_fields: ['address'] }));
    await detail.getByText('Item changed').waitFor();
    await detail.getByRole('row', { name: 'updated_fields ["name"] ["address"]' }).first().waitFor();
  });

  test('without a required field is invalid, and can be edited and sent', async () => {
    const { detail } = open;
    await open.showDelivery({ ...shopUpdated('-'), data: {} });
    await detail.getByText('The answer was 400: invalid or missing: data.shop_id').waitFor();
    await button('Edit and send').click();
    await editor().fill(JSON.stringify(shopUpdated('shop-corrected')));
    await press('Control+Enter');
    await detail.getByText('shop-corrected').first().waitFor();
    await detail.getByText(/^Finished at/).waitFor();
    // The button that had the focus is gone.
    await open.page.locator('#detail:focus').waitFor();
  });

  test('is sent as a new event by its key, and as the same event by its menu', async () => {
    const { page, detail } = open;
    const old = '2020-01-01T00:00:00Z';
    const address = await open.showDelivery({ ...shopUpdated('shop-again'), timestamp: old });
    await detail.getByText(/^Finished at/).waitFor();
    await press('r');
    await page.waitForURL((url) => url.hash !== address);
    const body = detail.getByRole('region', { name: 'Body' });
    await body.getByText(new Date().toISOString().slice(0, 10)).waitFor();
    await detail.getByText(/^Finished at/).waitFor();
    await button('More actions').click();
    await open.button('It is skipped: this event was processed.').click();
    await detail.getByText('This event was processed before.').waitFor();
    await detail.getByText('The same body in 1 other request').click();
    const deliveries = open.feed.store.list({ search: 'shop-again' });
    expect(new Set(deliveries.map(({ eventId }) => eventId)).size).toBe(2);
  });
});

test('a message that was put on a queue by hand has log lines, but no request', async () => {
  const client = new SQSClient(open.stack.operator);
  const MessageAttributes = {
    eventId: { DataType: 'String', StringValue: 'e'.repeat(64) },
    requestId: { DataType: 'String', StringValue: 'by-hand' },
  };
  const MessageBody = JSON.stringify(shopUpdated('shop-by-hand'));
  const QueueUrl = open.stack.outputs.ShopUpdatedQueueUrl;
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageAttributes }));
  client.destroy();
  await open.show(addressOf('by-hand'));
  await open.detail.locator('summary').getByText('Log lines').click();
  await open.detail.locator('li').getByText('shop-updated').first().waitFor();
  await open.detail.locator('summary').getByText('Request').waitFor({ state: 'hidden' });
});

const editor = () => open.page.getByRole('dialog').getByRole('textbox', { name: 'Body' });

describe('the editor', () => {
  async function edit(body: unknown): Promise<void> {
    await open.showDelivery(body);
    await button('Copy as curl').waitFor();
    await press('e');
    await editor().waitFor();
  }

  test('opens formatted, keeps its text when the page loads again, and asks before it discards changes', async () => {
    const { page } = open;
    await edit(shopUpdated('shop-editor'));
    expect(await editor().innerText()).toMatch(/^\{\n\s+"event": "shop.updated",\n/);
    await page.keyboard.type('kept');
    await page.reload();
    await editor().getByText('kept{').waitFor();
    const asked: string[] = [];
    page.once('dialog', (dialog) => {
      asked.push(dialog.message());
      return dialog.accept();
    });
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(asked).toEqual(['Discard your changes?']);
  });

  test('is left by Tab, sets the timestamp to now, and says that a text is not JSON, which can be sent', async () => {
    await edit({ ...shopUpdated('shop-dated'), timestamp: '2020-01-01T00:00:00Z' });
    for (const key of ['Tab', 'Enter']) await press(key);
    await editor().getByText(new Date().toISOString().slice(0, 10)).waitFor();
    await editor().fill('{"event": nothing');
    await open.page.getByText(/^Not JSON: Unexpected token 'o', /).waitFor();
    await open.button('Sign and send anyway').click();
    await open.detail.getByText('Invalid', { exact: true }).first().waitFor();
  });
});

test('a payload with markup or characters that change the text direction is shown as text everywhere', async () => {
  const markup = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  await open.showDelivery(shopUpdated('shop-markup', { name: `${markup}\u202e`, updated_fields: [markup] }));
  const body = open.detail.getByRole('region', { name: 'Body' });
  for (const text of ['<img src=x onerror=', 'U+202E']) await body.getByText(text).first().waitFor();
  const background = await body
    .locator('.invisible')
    .evaluate((element) => getComputedStyle(element).backgroundColor);
  expect(background).not.toBe('rgba(0, 0, 0, 0)');
  await open.detail.locator('.versions').getByText('<script>').first().waitFor();
  expect(await open.page.evaluate("'hit' in window")).toBe(false);
});
