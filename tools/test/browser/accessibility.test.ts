import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
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
  const client = new SQSClient(open.stack.operator);
  const MessageAttributes = {
    eventId: { DataType: 'String', StringValue: 'e'.repeat(64) },
    failureReason: { DataType: 'String', StringValue: 'The table was away. '.repeat(20) },
  };
  const MessageBody = JSON.stringify(shopUpdated(`shop-dead-${'x'.repeat(100)}`));
  const QueueUrl = open.stack.outputs.ShopUpdatedDeadLetterQueueUrl;
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageAttributes }));
  client.destroy();
  // The debugger evaluates axe, because the page's Content-Security-Policy forbids scripts from elsewhere.
  await open.page.evaluate(AXE);
});
afterAll(() => open[Symbol.asyncDispose]());
beforeEach(() => open.page.setViewportSize({ width: 1440, height: 900 }));
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

/** Findings of axe that make the page unusable for some people. Its lesser findings are only advice. */
const violations = (given = '') =>
  open.page.evaluate(`axe.run(${given}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);

async function show(hash: string, ready: string | RegExp): Promise<void> {
  await open.show(hash);
  await open.page.locator('main').getByText(ready).locator('visible=true').first().waitFor();
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
      await open.button(/^Send/).click();
      await open.page.locator('.menu-items:popover-open').waitFor();
    },
    leave: leaveByEscape,
  },
  {
    name: 'a processed delivery with its request, response and log lines',
    async enter() {
      await show(processed, 'Timeline');
      for (const name of ['Request', 'Response', 'Log lines'])
        await open.detail.locator('summary').getByText(name).first().click();
    },
  },
  {
    name: 'an invalid delivery, whose main action has the focus',
    async enter() {
      await show(invalid, 'Timeline');
      await open.detail.locator('.button-primary').focus();
    },
  },
  {
    name: 'the editor',
    async enter() {
      await show(invalid, 'Timeline');
      await open.page.keyboard.press('e');
      await open.page.getByRole('dialog').getByRole('textbox', { name: 'Body' }).waitFor();
    },
    leave: leaveByEscape,
  },
  { name: 'queues and faults', enter: () => show('#/queues', 'quarantine') },
  { name: 'nothing that needs somebody', enter: () => show('#/needs-you?search=girl.deleted', 'No message') },
  {
    name: 'a dead letter',
    async enter() {
      await show('#/needs-you', /^2 messages/);
      await open.button(/shop-dead/).click();
      await open.page.getByRole('textbox', { name: /^Payload of / }).waitFor();
    },
  },
  {
    name: 'the output of a command',
    async enter() {
      await show(invalid, 'Timeline');
      await open.button('More actions').click();
      await open.button('Redrive from quarantine').click();
      await open.page.getByText('Output').last().click();
    },
    leave: () => open.button('Close this notice').click(),
  },
  { name: 'keyboard shortcuts', enter: () => open.page.keyboard.press('?'), leave: leaveByEscape },
];

/** Width of a phone in pixels. */
const PHONE = 390;

/** The last is the window of 1280 by 1024 pixels, zoomed to 400 %. */
const WIDTHS = [1024, 761, PHONE, 320];

/** Visible elements that extend beyond the page's width (WCAG 1.4.10). */
const OUTSIDE = `(async () => {
  for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  const outside = [...document.body.querySelectorAll('*')].filter((element) => {
    const { right, width, height } = element.getBoundingClientRect();
    const isHidden = element.closest('.visually-hidden, .thead, .cut *') !== null;
    return !isHidden && width > 1 && height > 1 && right > innerWidth + 1;
  });
  const page = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];
  return [...page, ...outside.map((element) => element.outerHTML.slice(0, 160))];
})()`;

/**
 * Controls that are smaller than a finger: 44 pixels, and fields with text below 16 pixels, for which iOS would zoom.
 * Those in CodeMirror are excluded.
 */
const SMALL = `[...document.querySelectorAll('button, .button, input, select, summary')]
  .filter((element) => {
    const { height } = (element.closest('label') ?? element).getBoundingClientRect();
    const isField = element.matches('input:not([type=checkbox]), select');
    const isSmall = height < 44 || (isField && parseFloat(getComputedStyle(element).fontSize) < 16);
    return element.checkVisibility() && height > 0 && isSmall;
  })
  .map((element) => element.outerHTML.slice(0, 160))`;

describe.each(VIEWS)('$name', ({ enter, leave }) => {
  test('has no serious axe violation and does not overflow, light or dark, wide or narrow', async () => {
    const { page } = open;
    await enter();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violations()).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await violations("{ runOnly: ['color-contrast'] }")).toEqual([]);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate(OUTSIDE)).toEqual([]);
      if (width === PHONE) expect(await page.evaluate(SMALL)).toEqual([]);
    }
    expect(await violations("{ rules: { 'color-contrast': { enabled: false } } }")).toEqual([]);
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

  test('a menu can be opened, walked through and left, and what is behind it stays', async () => {
    const { page } = open;
    await show(processed, 'Timeline');
    await open.button('More actions').focus();
    await press('Enter');
    await page.locator('.menu-items:popover-open').waitFor();
    expect(await focused()).toMatch(/^Resend the same bytes/);
    await press('Tab');
    expect(await focused()).toMatch(/^Edit and send/);
    await press('Escape');
    expect(await focused()).toBe('More actions');
    expect(await open.detail.isVisible()).toBe(true);
  });

  test('a dialog traps the focus and returns it', async () => {
    const { page } = open;
    const dialog = page.getByRole('dialog');
    await press('3');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await open.button('Pause shop.updated').focus();
    await press('Enter');
    await dialog.getByRole('textbox', { name: 'Reason' }).waitFor();
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

test.each([1440, PHONE, 320])('the header has the whole name of a stage at %i pixels', async (width) => {
  await open.page.setViewportSize({ width, height: 800 });
  const isWhole = `(() => {
    const title = document.querySelector('.brand');
    title.className += ' badge';
    title.textContent = 'stage partner-production in ap-northeast-1';
    const { right } = title.getBoundingClientRect();
    return right <= innerWidth && title.scrollWidth <= title.clientWidth + 1;
  })()`;
  expect(await open.page.evaluate(isWhole)).toBe(true);
});

test('in forced colours, what is chosen has an outline or a border of its own', async () => {
  const { page } = open;
  await page.emulateMedia({ forcedColors: 'active' });
  await show(processed, 'Timeline');
  await open.button(/^Done/).click();
  const styleOf = (selector: string, property: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
  expect(await styleOf('[aria-pressed=true]', 'outline-style')).toBe('solid');
  expect(await styleOf('.is-current', 'outline-style')).toBe('solid');
  expect(await styleOf('.nav [aria-current]', 'border-bottom-width')).toBe('3px');
  expect(await styleOf('.nav a:not([aria-current])', 'border-bottom-width')).toBe('0px');
  await page.emulateMedia({ forcedColors: 'none' });
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
  for (const name of ['title', 'aria-description']) expect(await button.getAttribute(name)).toBe(why);
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  await button.press('Enter');
  await page.locator('.notice').getByText(why).waitFor();
});
