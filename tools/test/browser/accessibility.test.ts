import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addressOf, OpenConsole, shopUpdated } from './open-console.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let open: OpenConsole;
/** Addresses of a processed delivery, and of one in quarantine. */
let processed: string;
let invalid: string;

beforeAll(async () => {
  open = await OpenConsole.start();
  processed = addressOf((await open.partner.post(shopUpdated('shop-seen'))).body.requestId);
  invalid = addressOf((await open.partner.post('no event')).body.requestId);
  await open.row('shop-seen').getByText('Processed').waitFor();
  await sendDeadLetter(open.stack.outputs.ShopUpdatedDeadLetterQueueUrl, 'The table was away. '.repeat(20));
  await sendDeadLetter(open.stack.outputs.GirlCreatedDeadLetterQueueUrl, 'The answer was not understood');
  // The debugger evaluates axe, because the page's Content-Security-Policy forbids scripts from elsewhere.
  await open.page.evaluate(AXE);
});
afterAll(() => open[Symbol.asyncDispose]());
beforeEach(() => open.page.setViewportSize({ width: 1440, height: 900 }));
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

async function sendDeadLetter(QueueUrl: string | undefined, reason: string): Promise<void> {
  const client = new SQSClient(open.stack.operator);
  const MessageAttributes = {
    eventId: { DataType: 'String', StringValue: 'e'.repeat(64) },
    failureReason: { DataType: 'String', StringValue: reason },
  };
  const MessageBody = JSON.stringify(shopUpdated(`shop-dead-${'x'.repeat(100)}`));
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageAttributes }));
  client.destroy();
}

/** Findings of axe that make the page unusable for some people. Its lesser findings are only advice. */
const violations = (page: Page, given = '') =>
  page.evaluate(`axe.run(${given}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)].join(' ')))`);

async function show(hash: string, ready: string | RegExp): Promise<void> {
  await open.show(hash);
  await open.page.getByText(ready).and(open.page.locator(':visible')).first().waitFor();
}

const click = (name: string | RegExp) => open.button(name).first().click();

async function choose(item: string): Promise<void> {
  await open.page.getByRole('button', { name: 'More', exact: true }).click();
  await open.page.getByRole('menuitem', { name: item }).click();
}

async function leaveByEscape(): Promise<void> {
  await open.page.keyboard.press('Escape');
  await open.page.getByRole('dialog').waitFor({ state: 'hidden' });
}

/** Each view: how to open it and, if it covers other views, how to leave it. */
const VIEWS: readonly { name: string; enter: () => Promise<void>; leave?: () => Promise<void> }[] = [
  { name: 'deliveries', enter: () => show('#/deliveries', 'shop-seen') },
  {
    name: 'a menu',
    async enter() {
      await show('#/deliveries', 'shop-seen');
      await click('Send');
      await open.page.getByRole('menu').waitFor();
    },
    leave: leaveByEscape,
  },
  { name: 'a processed delivery', enter: () => show(processed, 'Timeline') },
  {
    name: 'its request, response and log lines',
    async enter() {
      await show(processed, 'Timeline');
      for (const name of ['Request', 'Response', 'Log lines'])
        await open.detail.getByText(name).first().click();
    },
  },
  { name: 'an invalid delivery', enter: () => show(invalid, 'Timeline') },
  {
    name: 'the editor',
    async enter() {
      await show(invalid, 'Timeline');
      await click(/^Edit and send/);
      await open.page.getByRole('dialog').getByRole('textbox', { name: 'Body' }).waitFor();
    },
    leave: leaveByEscape,
  },
  { name: 'queues and faults', enter: () => show('#/queues', 'quarantine') },
  { name: 'nothing that needs somebody', enter: () => show('#/needs-you?queue=girl.deleted', 'No message') },
  {
    name: 'a dead letter',
    async enter() {
      await show('#/needs-you', /^3 messages/);
      await click(/shop-dead/);
      await open.page.getByRole('textbox', { name: /^Payload of / }).waitFor();
    },
  },
  {
    name: 'the output of a command',
    async enter() {
      await choose('Check this stack (doctor)');
      await open.page.getByText('Output').last().click();
    },
    leave: () => click('Close this notice'),
  },
  { name: 'keyboard shortcuts', enter: () => choose('Keyboard shortcuts'), leave: leaveByEscape },
  { name: 'a menu', enter: () => click('More'), leave: leaveByEscape },
];

/** Width of a phone in pixels. */
const PHONE = 390;

const SIZES = [
  { width: 1024, height: 768 },
  { width: 761, height: 768 },
  { width: PHONE, height: 844 },
  // The window of 1280 by 1024 pixels, zoomed to 400 %.
  { width: 320, height: 256 },
];

/** Visible elements that extend beyond the page's width, and elements that scroll horizontally (WCAG 1.4.10). */
const OUTSIDE = `(async () => {
  for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  const outside = [...document.body.querySelectorAll('*')].filter((element) => {
    const { right, width, height } = element.getBoundingClientRect();
    const isHidden = element.closest('.visually-hidden, .skip, .thead, .ruler, .cut *') !== null;
    return !isHidden && width > 1 && height > 1 && right > innerWidth + 1;
  });
  const page = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];
  return [...page, ...outside.map((element) => element.outerHTML.slice(0, 160))];
})()`;

/** Controls that are smaller than a finger: 44 pixels. Those in the list and in CodeMirror are excluded. */
const SMALL = `[...document.querySelectorAll('button, .button, .icon-button, input, select, textarea, summary, [role=tab]')]
  .filter((element) => {
    const target = element.closest('label') ?? element;
    const height = Math.max(target.getBoundingClientRect().height, parseFloat(getComputedStyle(element, '::after').height) || 0);
    return element.checkVisibility() && !element.matches('.list-pane *, .skip') && height > 0 && height < 44;
  })
  .map((element) => element.outerHTML.slice(0, 160))`;

/** Fields with text below 16 pixels: iOS would zoom into the page. */
const SMALL_TEXT = `[...document.querySelectorAll('input:not([type=checkbox], [type=radio]), select, textarea')]
  .filter((element) => parseFloat(getComputedStyle(element).fontSize) < 16)
  .map((element) => element.outerHTML.slice(0, 160))`;

describe.each(VIEWS)('$name', ({ enter, leave }) => {
  test('has no serious axe violation and does not overflow, light or dark, wide or narrow', async () => {
    const { page } = open;
    await enter();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await violations(page, "{ runOnly: ['color-contrast'] }")).toEqual([]);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      expect(await page.evaluate(OUTSIDE)).toEqual([]);
      if (size.width !== PHONE) continue;
      expect(await page.evaluate(SMALL)).toEqual([]);
      expect(await page.evaluate(SMALL_TEXT)).toEqual([]);
    }
    expect(await violations(page, "{ rules: { 'color-contrast': { enabled: false } } }")).toEqual([]);
    await leave?.();
  });
});

describe('with the keyboard only', () => {
  const press = async (...keys: string[]) => {
    for (const key of keys) await open.page.keyboard.press(key);
  };
  const focused = () =>
    open.page.evaluate(
      "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
    );

  test('a delivery can be opened, read, edited and left', async () => {
    const { page, detail } = open;
    await show('#/deliveries', 'shop-seen');
    await press('j', 'Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('detail');
    await detail.getByText('Timeline').waitFor();
    await press('e');
    await page.getByRole('dialog').getByRole('textbox', { name: 'Body' }).waitFor();
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await press('Escape');
    await detail.waitFor({ state: 'hidden' });
    expect(await focused()).toBe('Deliveries, newest first');
  });

  test('a menu can be opened, walked through and left, and what is behind it stays', async () => {
    const { page } = open;
    await show(processed, 'Timeline');
    await open.button('More actions').focus();
    await press('Enter');
    await page.getByRole('menu').waitFor();
    await press('ArrowDown', 'Home');
    expect(await focused()).toMatch(/^Edit and send/);
    await press('ArrowUp');
    expect(await focused()).toBe('Refresh');
    await press('Escape');
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    expect(await focused()).toBe('More actions');
    expect(await open.detail.isVisible()).toBe(true);
  });

  test('a dialog traps the focus and returns it', async () => {
    const { page } = open;
    const dialog = page.getByRole('dialog');
    await press('3');
    await open.button('Pause shop.updated').waitFor();
    for (let step = 0; step < 80 && (await focused()) !== 'Pause shop.updated'; step += 1) await press('Tab');
    await press('Enter');
    // A reason is needed: without one, Escape would first close the hint of the refused button.
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('A test');
    for (let step = 0; step < 8; step += 1) {
      await press('Tab');
      // Between the last element and the first, Tab leads to the browser's own controls.
      expect(await page.evaluate("document.querySelector(':focus:not(dialog *)')")).toBeNull();
    }
    await press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await focused()).toBe('Pause shop.updated');
  });
});

describe('the header', () => {
  test.each([1440, PHONE, 320])(
    'shows all views and the whole name of the stack at %i pixels',
    async (width) => {
      const { page } = open;
      await page.setViewportSize({ width, height: 800 });
      const views = page.getByRole('navigation', { name: 'Views' });
      for (const name of ['Needs you', 'Queues', 'Deliveries']) {
        const link = views.getByRole('link', { name });
        expect(await link.evaluate((element) => element.getBoundingClientRect().right)).toBeLessThan(width);
        await link.click();
        await page.getByRole('heading', { level: 1, name }).waitFor({ state: 'attached' });
      }
      expect(
        await page.locator('.brand-title').evaluate((title) => title.scrollWidth <= title.clientWidth + 1),
      ).toBe(true);
    },
  );

  test('has a menu that chooses the theme, which is remembered', async () => {
    const { page } = open;
    const theme = () => page.evaluate('document.documentElement.dataset.theme');
    await choose('Dark theme');
    await open.goto('#/deliveries');
    expect(await theme()).toBe('dark');
    await choose('Theme of the system');
    expect(await theme()).toBeUndefined();
  });

  test('has a link that skips it, to the list of the view', async () => {
    const { page } = open;
    for (const { hash, label } of [
      { hash: '#/deliveries', label: 'Deliveries, newest first' },
      { hash: '#/queues', label: 'Queues' },
    ]) {
      await open.goto(hash);
      await page.getByLabel(label, { exact: true }).first().waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(label);
    }
  });
});

test('a refused action says why, to everybody', async () => {
  const { page } = open;
  const parked = await open.partner.post({
    event: 'shop.closed',
    data: {},
    timestamp: new Date().toISOString(),
  });
  await show(addressOf(parked.body.requestId), 'Redrive from unrouted');
  const button = open.button('Redrive from unrouted');
  const why = 'shop.closed has no consumer yet. Add one first.';
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  const described = await button.evaluate((element) => element.getAttribute('aria-describedby'));
  expect(await page.evaluate(`document.getElementById('${described}').textContent`)).toBe(why);
  const tip = page.locator('.refusal-tip');
  for (const show of [() => button.hover(), () => button.focus()]) {
    await show();
    await tip.getByText(why).waitFor();
    await page.keyboard.press('Escape');
    await tip.waitFor({ state: 'hidden' });
    await page.mouse.move(0, 0);
    await button.blur();
  }
});
