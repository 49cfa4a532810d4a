import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { OpenConsole, shopUpdated } from './open-console.ts';

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

const button = (name: string | RegExp) => open.detail.getByRole('button', { name });

describe('a delivery', () => {
  test('shows its outcome with the right action, its effect, and its timeline', async () => {
    const { detail } = open;
    await open.showDelivery(shopUpdated('shop-outcome'));
    await detail.getByText(/^Finished at/).waitFor();
    await button('Resend').waitFor();
    await detail.getByText('Item added').waitFor();
    await detail.getByRole('link', { name: 'ShopCacheTable' }).waitFor();
    await detail.getByText('attempt 1').waitFor();
    expect(await detail.locator('time').first().getAttribute('title')).toMatch(/UTC$/);
    await open.showDelivery(shopUpdated('shop-outcome', { updated_fields: ['address'] }));
    await detail.getByText('Item changed').waitFor();
    await detail.locator('.diff').getByRole('row').filter({ hasText: 'changed from' }).first().waitFor();
  });

  test('without a required field is invalid, and can be edited and sent', async () => {
    const { detail, page } = open;
    await open.showDelivery({ ...shopUpdated('-'), data: {} });
    await detail.getByText('The answer was 400: invalid or missing: data.shop_id').waitFor();
    await button('Edit and resend').click();
    await editor().fill(JSON.stringify(shopUpdated('shop-corrected')));
    await page.keyboard.press('Control+Enter');
    await detail.getByText('shop-corrected').first().waitFor();
    await detail.getByText(/^Finished at/).waitFor();
  });

  test('of an event without a consumer is parked, and cannot be redriven yet', async () => {
    await open.showDelivery({ ...shopUpdated('shop-parked'), event: 'shop.renamed' });
    await open.detail.getByText(/No consumer handles this event/).waitFor();
    const redrive = button('Redrive from unrouted');
    expect(await redrive.getAttribute('aria-disabled')).toBe('true');
    expect(await redrive.getAttribute('title')).toContain('no consumer');
    await open.detail.getByRole('link', { name: 'Show the queue' }).waitFor();
  });

  test('is sent again with the same bytes, which are the same event', async () => {
    await open.showDelivery(shopUpdated('shop-again'));
    await open.detail.getByText(/^Finished at/).waitFor();
    await open.page.keyboard.press('r');
    await open.page.getByRole('link', { name: 'Show it' }).last().click();
    await open.detail.getByText('This event was processed before.').waitFor();
    const { deliveries } = open.feed.store.list({ shop: 'shop-again' });
    expect(new Set(deliveries.map(({ eventId }) => eventId)).size).toBe(1);
  });
});

const editor = () => open.page.getByRole('textbox', { name: 'Body' });

describe('the editor', () => {
  async function edit(body: unknown): Promise<void> {
    await open.showDelivery(body);
    await button('Resend').waitFor();
    await open.page.keyboard.press('e');
  }

  test('opens formatted at the top, and asks before it discards changes', async () => {
    const { page } = open;
    await edit(shopUpdated('shop-editor', { name: 'x'.repeat(20) }));
    await editor().waitFor();
    expect(await editor().innerText()).toMatch(/^\{\n\s+"event": "shop.updated",\n/);
    await page.keyboard.type(' ');
    await page.keyboard.press('Escape');
    await page.getByText('Discard your changes?').waitFor();
    await open.button('Keep editing').click();
    await open.button('Undo all').click();
    await editor().focus();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  test('sets the timestamp to now, and Tab leaves it', async () => {
    const { page } = open;
    await edit({ ...shopUpdated('shop-dated'), timestamp: '2020-01-01T00:00:00Z' });
    await editor().waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await editor().getByText(new Date().toISOString().slice(0, 10)).waitFor();
    expect(await editor().innerText()).not.toContain('2020-01-01');
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    await open.button('Discard').click();
  });

  test('says of text that is not JSON where it is wrong, and sends it', async () => {
    await edit(shopUpdated('shop-broken'));
    await editor().fill('{"event": nothing');
    await open.page.getByText('Not JSON. Line 1, column 11: a value is expected.').waitFor();
    await open.button('Sign and send anyway').click();
    await open.detail.getByText('Invalid', { exact: true }).first().waitFor();
  });

  test('is a plain field if CodeMirror does not load', async () => {
    const { page, detail } = open;
    await page.route(/code-mirror/, (request) => request.abort());
    await open.goto('');
    await edit(shopUpdated('shop-plain'));
    await page.locator('textarea.editor').waitFor();
    await editor().fill(JSON.stringify(shopUpdated('shop-of-plain')));
    await page.keyboard.press('Control+Enter');
    await detail.getByText('shop-of-plain').first().waitFor();
    await page.unroute(/code-mirror/);
    // The browser remembers a module that failed for as long as it has the page.
    await open.goto('');
  });
});

describe('a payload', () => {
  const body = () => open.page.getByRole('region', { name: /^Body/ });
  const bodyText = (text: string | RegExp) => body().getByText(text).first().waitFor();
  const showRequest = (payload: unknown) => open.showDelivery(payload, '?tab=request');

  test('with markup, and with what turns text around, is shown as text, wherever it stands', async () => {
    const { page } = open;
    const markup = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
    await showRequest(shopUpdated('shop-markup', { name: `${markup}\u202e`, updated_fields: [markup] }));
    await bodyText(/<img src=x onerror=/);
    expect(await body().textContent()).not.toContain('\u202e');
    await page.getByRole('tab', { name: 'Overview' }).click();
    await open.detail.getByText('<script>').first().waitFor();
    expect(await page.evaluate("'hit' in window")).toBe(false);
  });

  test('from right to left leaves the punctuation of JSON where it is', async () => {
    await showRequest(shopUpdated('shop-right-to-left', { name: 'مطعم, (2)', tags: ['שלום!', 'x'] }));
    for (const part of ['Formatted', 'As sent']) {
      await open.button(part).click();
      await bodyText('مطعم');
      // Where each quote, comma and colon is drawn: from left to right, as in the text.
      const isInOrder = await body().evaluate((view) => {
        return [...view.querySelectorAll('.text-line')].every((line) => {
          const places: number[] = [];
          const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
            if (!/^["]$|^[":,[\]{} ]+$/.test(node.textContent ?? '')) continue;
            const range = document.createRange();
            range.selectNode(node);
            places.push(range.getBoundingClientRect().left);
          }
          return places.every((place, index) => index === 0 || place >= (places[index - 1] ?? 0));
        });
      });
      expect(isInOrder).toBe(true);
    }
  });

  test('of 4 MB in one line is shown in part, and can be scrolled to its end', async () => {
    const { page } = open;
    await showRequest(shopUpdated('shop-large', { name: 'x'.repeat(4 * 1024 * 1024), end: 'the-end' }));
    await open.button('As sent').click();
    await bodyText(/xxxx/);
    expect(await page.locator('.text-row').count()).toBeLessThan(300);
    await body().focus();
    await page.keyboard.press('End');
    await bodyText(/the-end/);
    await open.button('Formatted').click();
    await bodyText(/xxxx/);
  });
});
