import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe found, as far as this test reads it. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What would keep people from using the page. axe's lesser findings are advice. */
const SERIOUS = ['serious', 'critical'];

let open: OpenConsole;
/** Address of a processed delivery, and of one in quarantine. */
let processed: string;
let invalid: string;

beforeAll(async () => {
  open = await OpenConsole.start();
  const [first, second] = [
    await open.partner.post(shopUpdated('shop-seen')),
    await open.partner.post('no event'),
  ];
  processed = `#/deliveries/${encodeURIComponent(String(first.body.requestId))}`;
  invalid = `#/deliveries/${encodeURIComponent(String(second.body.requestId))}`;
  await open.row('shop-seen').getByText('Processed').waitFor();
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

/** Shows a view, without loading the page again. */
async function show(hash: string, ready: string | RegExp): Promise<void> {
  await open.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await open.page.getByText(ready).and(open.page.locator(':visible')).first().waitFor();
}

const click = (name: string | RegExp) => open.page.getByRole('button', { name }).first().click();

/** Every view: how it is shown, and how it is left. */
const VIEWS: readonly (readonly [
  name: string,
  enter: () => Promise<unknown>,
  leave?: () => Promise<unknown>,
])[] = [
  ['deliveries', () => show('#/deliveries', 'shop-seen')],
  ['an unknown filter', () => show('#/deliveries?state=nothing', /nothing/)],
  ['a processed delivery', () => show(processed, 'Timeline')],
  ['its request', () => show(`${processed}?tab=request`, 'As sent')],
  ['its headers', () => click('Headers')],
  ['its response', () => show(`${processed}?tab=response`, 'Headers')],
  ['its log lines', () => show(`${processed}?tab=logs`, 'Processed')],
  ['an invalid delivery', () => show(invalid, 'Timeline')],
  [
    'the editor',
    async () => {
      await click(/^Edit and resend/);
      await open.page.getByRole('textbox', { name: 'Body' }).waitFor();
    },
    () => open.page.keyboard.press('Escape'),
  ],
  ['queues', () => show('#/queues', 'quarantine')],
  ['a queue', () => show('#/queues/quarantine', 'Redrive all')],
  ['dead letters', () => show('#/dead-letters', 'No dead letters')],
  [
    'a plan of a replay',
    async () => {
      await show('#/replay', 'Show plan');
      await click('Show plan');
      await open.page.getByText(/Show command output/).waitFor();
    },
  ],
  ['tables', () => show('#/tables/ShopCacheTable', 'shop-seen')],
  ['an item', () => show('#/tables/ShopCacheTable?key=shop-seen', 'invalidated_at')],
  ['faults', () => show('#/faults', 'No faults active')],
  ['tasks', () => click(/^Tasks/), () => click('Close tasks')],
  ['keyboard shortcuts', () => click(/^Keyboard shortcuts/), () => open.page.keyboard.press('Escape')],
];

async function violations(): Promise<string[]> {
  const found = (await open.page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[];
  return found
    .filter(({ impact }) => SERIOUS.includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Visible elements that reach beyond the page's width, and what the page would scroll to (WCAG 1.4.10). */
const OUTSIDE = `(() => {
  const outside = [...document.body.querySelectorAll('*')].filter((element) => {
    const { right, width, height } = element.getBoundingClientRect();
    const isHidden = element.closest('.visually-hidden, .skip, .thead, .ruler') !== null;
    return !isHidden && width > 1 && height > 1 && right > innerWidth + 1;
  });
  const page = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];
  return [...page, ...outside.map((element) => element.outerHTML.slice(0, 160))];
})()`;

describe.each([
  [1440, 900],
  [1024, 768],
  [390, 844],
  // 1280 by 1024 pixels at 400 %.
  [320, 256],
])('at %i by %i pixels', (width, height) => {
  beforeAll(async () => {
    await open.page.setViewportSize({ width, height });
    await open.goto('');
    // Evaluated by the browser's debugger: the page's own policy would refuse it.
    await open.page.evaluate(AXE);
  });

  test.each(VIEWS.map(([name, enter, leave]) => ({ name, enter, leave })))(
    '$name: axe finds nothing serious, light or dark, and nothing is off the page',
    async ({ enter, leave }) => {
      await enter();
      for (const colorScheme of ['light', 'dark'] as const) {
        await open.page.emulateMedia({ colorScheme });
        expect(await violations()).toEqual([]);
      }
      expect(await open.page.evaluate(OUTSIDE)).toEqual([]);
      await leave?.();
    },
  );
});

describe('with the keyboard alone', () => {
  const press = async (...keys: string[]) => {
    for (const key of keys) await open.page.keyboard.press(key);
  };
  const focused = () =>
    open.page.evaluate(
      "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
    );
  /** Presses Tab until an element has the focus. */
  const tabTo = async (name: string | RegExp, key = 'Tab') => {
    const seen: unknown[] = [];
    for (let step = 0; step < 80; step += 1) {
      await press(key);
      const now = String(await focused());
      if (typeof name === 'string' ? now === name : name.test(now)) return;
      seen.push(now);
    }
    throw new Error(`${name} is not reached: ${seen.join(' | ')}`);
  };

  beforeAll(async () => {
    await open.page.setViewportSize({ width: 1440, height: 900 });
    await open.goto('');
    await open.rows.first().waitFor();
  });

  test('a delivery is opened, read, edited and left', async () => {
    const { page, detail } = open;
    await press('j', 'Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('detail');
    await detail.getByText('Timeline').waitFor();
    await press(']');
    await page.getByRole('tab', { name: /^Request/, selected: true }).waitFor();
    await press('[');
    await press('e');
    await page.getByRole('textbox', { name: 'Body' }).waitFor();
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await press('Escape');
    await detail.waitFor({ state: 'hidden' });
    expect(await focused()).toBe('Deliveries, newest first');
  });

  test('a queue is paused in a dialog, which holds the focus and gives it back, and is resumed', async () => {
    const { page } = open;
    await press('2');
    await tabTo('Pause shop.updated');
    await press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    for (let step = 0; step < 8; step += 1) {
      await press('Tab');
      const isInside = "['DIALOG', 'BODY'].includes(document.activeElement.closest('dialog, body')?.tagName)";
      expect(
        await page.evaluate(
          `${isInside} && document.querySelector('main :focus') === document.querySelector('main dialog :focus')`,
        ),
      ).toBe(true);
    }
    await press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await focused()).toBe('Pause shop.updated');
    await press('Enter');
    await dialog.waitFor();
    await page.keyboard.type('by keyboard');
    await press('Enter');
    await page.getByText('Paused', { exact: true }).first().waitFor();
    await tabTo('Resume shop.updated', 'Shift+Tab');
    await press('Enter');
    await page.getByRole('button', { name: 'Resume shop.updated' }).waitFor({ state: 'hidden' });
  });

  test('what is in quarantine is redriven, and a replay is planned', async () => {
    const { page } = open;
    await open.goto('#/queues/quarantine');
    await page.getByRole('button', { name: 'Redrive all' }).waitFor();
    await tabTo('Redrive all');
    await press('Enter');
    await page.getByRole('region', { name: 'Tasks' }).waitFor();
    await press('Escape');
    await press('4');
    await tabTo('Show plan');
    await press('Enter');
    await page.getByText('Show command output').waitFor();
    await press('1');
    await open.rows.first().waitFor();
  });
});
