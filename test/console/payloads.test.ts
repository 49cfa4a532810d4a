import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

const MEGABYTE = 1024 * 1024;
const RIGHT_TO_LEFT_OVERRIDE = '\u202e';

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

/** Posts, and opens its request. */
async function openRequest(body: unknown): Promise<void> {
  const requestId = String((await open.partner.post(body)).body.requestId);
  await open.goto(`#/deliveries/${encodeURIComponent(requestId)}?tab=request`);
}

const bodyView = () => open.page.getByRole('region', { name: /^Body/ });

test('markup is shown as text, wherever it stands', async () => {
  const { page } = open;
  const markup = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  await openRequest(shopUpdated('shop-markup', { name: markup, updated_fields: [markup] }));
  await bodyView()
    .getByText(/<img src=x onerror=/)
    .first()
    .waitFor();
  await page.getByRole('tab', { name: 'Overview' }).click();
  await open.detail
    .getByText(/<script>/)
    .first()
    .waitFor();
  expect(await page.evaluate("'hit' in window")).toBe(false);
});

test('control characters and those that turn text around are made visible', async () => {
  await openRequest(shopUpdated('shop-control', { name: `a${RIGHT_TO_LEFT_OVERRIDE}b\u0001c\u200bd` }));
  await open.page.getByRole('button', { name: 'As sent' }).click();
  const text = (await bodyView().textContent()) ?? '';
  expect(text).toContain('shop-control');
  expect(text).not.toContain(RIGHT_TO_LEFT_OVERRIDE);
  expect(text).not.toContain('\u200b');
});

test('text from right to left leaves the punctuation of JSON where it is', async () => {
  const text = JSON.stringify(shopUpdated('shop-right-to-left', { name: 'مطعم, (2)', tags: ['שלום!', 'x'] }));
  await openRequest(text);
  for (const part of ['Formatted', 'As sent']) {
    await open.page.getByRole('button', { name: part }).click();
    await bodyView().getByText('مطعم').waitFor();
    // Where each quote, comma and colon is drawn: from left to right, as in the text.
    const isInOrder = await bodyView().evaluate((view) => {
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

test('emoji that are joined stay one character', async () => {
  await openRequest(shopUpdated('shop-emoji', { name: 'a👨‍👩‍👧‍👦b' }));
  await bodyView().getByText('a👨‍👩‍👧‍👦b').waitFor();
  expect(await bodyView().locator('.invisible').count()).toBe(0);
});

test('a payload of 4 MB, of one line, is shown in part and can be scrolled to its end', async () => {
  const { page } = open;
  await openRequest(shopUpdated('shop-large', { name: 'x'.repeat(4 * MEGABYTE), end: 'the-end' }));
  await page.getByRole('button', { name: 'As sent' }).click();
  await bodyView().getByText(/xxxx/).first().waitFor();
  expect(await page.locator('.text-row').count()).toBeLessThan(300);
  await bodyView().focus();
  await page.keyboard.press('End');
  await bodyView()
    .getByText(/the-end/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Formatted' }).click();
  await bodyView().getByText(/xxxx/).first().waitFor();
});

test('a payload of 10,000 levels is shown, formatted and as it was sent', async () => {
  const { page } = open;
  const text = JSON.stringify(shopUpdated('shop-deep', { name: 'deep' })).replace(
    '"name":"deep"',
    `"name":"deep","levels":${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  );
  await openRequest(text);
  await bodyView()
    .getByText(/levels/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'As sent' }).click();
  await bodyView()
    .getByText(/\[\[\[\[/)
    .first()
    .waitFor();
});
