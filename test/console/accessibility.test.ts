import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe found, as far as this looks at it. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What would keep somebody from using the page; lesser ones are axe's advice. */
const SERIOUS = ['serious', 'critical'];

let open: OpenConsole;

beforeAll(async () => {
  open = await OpenConsole.start();
  await open.partner.post(shopUpdated('shop-seen'));
  await open.partner.post('no event');
  await open.row('shop-seen').getByText('processed').waitFor();
});
afterAll(() => open[Symbol.asyncDispose]());
afterEach(() => {
  expect(open.wrongs).toEqual([]);
});

async function violations(): Promise<string[]> {
  // Evaluated by the browser's debugger: the page's own policy would refuse it.
  await open.page.evaluate(AXE);
  const found = (await open.page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[];
  return found
    .filter(({ impact }) => SERIOUS.includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

const VIEWS: readonly (readonly [name: string, hash: string, ready: string])[] = [
  ['deliveries', '#/deliveries', 'shop-seen'],
  ['queues', '#/queues', 'quarantine'],
  ['a queue', '#/queues/quarantine', 'quarantine'],
  ['dead letters', '#/queues/dead-letters', 'No dead letters'],
  ['replay', '#/queues/replay', 'Replay'],
  ['tables', '#/tables/ShopCacheTable', 'shop-seen'],
  ['faults', '#/faults', 'Break something, and watch it heal'],
];

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  describe.each([1440, 900])('at %i pixels', (width) => {
    beforeAll(async () => {
      await open.page.emulateMedia({ colorScheme });
      await open.page.setViewportSize({ width, height: 900 });
    });

    test.each(VIEWS)('axe finds nothing serious in %s', async (_, hash, ready) => {
      await open.goto(hash);
      await open.page.getByText(ready).and(open.page.locator(':visible')).first().waitFor();
      expect(await violations()).toEqual([]);
    });

    test('axe finds nothing serious in the parts of a delivery', async () => {
      await open.goto('#/deliveries');
      await open.select('shop-seen');
      for (const tab of ['Overview', /^Request/, /^Answer/, /^Log lines/]) {
        await open.page.getByRole('tab', { name: tab }).click();
        await open.page.getByRole('tabpanel').waitFor();
        expect(await violations()).toEqual([]);
      }
    });
  });
});

test('a dialog has the focus, holds it, and gives it back', async () => {
  const { page } = open;
  await open.goto('#/queues');
  const pause = page.getByRole('button', { name: 'Pause shop.updated' });
  await pause.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  for (let step = 0; step < 8; step += 1) {
    await page.keyboard.press('Tab');
    expect(
      await page.evaluate(
        "document.activeElement.closest('dialog') !== null || document.activeElement === document.body",
      ),
    ).toBe(true);
  }
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe('Pause shop.updated');
});

test('everything on the way to a dead letter’s redrive can be reached by Tab alone', async () => {
  const { page } = open;
  await open.goto('#/queues');
  await page.getByRole('button', { name: 'Pause shop.updated' }).waitFor();
  const reached = new Set<string>();
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    reached.add(
      String(
        await page.evaluate(
          "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
        ),
      ),
    );
  }
  for (const name of ['Deliveries', 'Tables', 'Faults', 'shop.updated', 'Pause shop.updated', 'quarantine']) {
    expect(reached).toContain(name);
  }
});
