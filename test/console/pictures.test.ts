import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { readSamples } from '../../events/samples.ts';
import { shopUpdated } from './events.ts';
import { OpenConsole } from './open-console.ts';

const FOLDER = 'docs/console';

/** Of a picture, of 100: a page of text is as clear as with more. */
const QUALITY = 80;

/** How long the page is left alone before it is taken, in milliseconds: lists refresh, notes go. */
const QUIET = 1_500;

const isWanted = process.env.CONSOLE_PICTURES === 'true';

let open: OpenConsole;

/** `npm run test:console -- --pictures` takes them: what they show depends on the time of day. */
(isWanted ? describe : describe.skip)('pictures', () => {
  beforeAll(async () => {
    await mkdir(FOLDER, { recursive: true });
    open = await OpenConsole.start({ environment: { FIRST_RETRY_DELAY_SECONDS: '0.01' } });
  });
  afterAll(() => open?.[Symbol.asyncDispose]());

  test('of the empty page', () => take('first-event', '#/deliveries', 'No delivery yet'));

  test('of every view with something in it', async () => {
    const { partner, stack, page } = open;
    for (const { payload } of readSamples()) {
      await partner.post({ ...payload, timestamp: new Date().toISOString() });
    }
    // Or the fault would hit what of them is still under way, and the pictures differ by chance.
    for (const { event } of readSamples()) await open.row(event).getByText('processed').waitFor();
    const end = stack.faults.inject({ service: 'dynamodb', kind: 'down' });
    for (const shop of ['shop-7', 'shop-8', 'shop-9']) await partner.post(shopUpdated(shop));
    await open.row('shop-9').getByText('dead letter').waitFor({ timeout: 50_000 });
    end();
    await partner.post({ event: 'shop.closed', data: {}, timestamp: new Date().toISOString() });
    await partner.post({ event: 'girl.created', data: {}, timestamp: new Date().toISOString() });
    await partner.post(shopUpdated('shop-1001'), { signature: '0'.repeat(64) });
    await partner.post(shopUpdated('shop-1001', { updated_fields: ['opening_hours'] }));
    await open.row('shop-1001').first().getByText('processed').waitFor();

    await open.goto('#/deliveries');
    await open.select('shop-1001');
    const { hash } = new URL(page.url());
    await take('deliveries', hash, 'item changed');
    await take('request', `${hash}?tab=request`, 'opening_hours');
    await take('queues', '#/queues', 'quarantine');
    await take('dead-letters', '#/queues/dead-letters', 'Redrive all');
    await take('replay', '#/queues/replay', 'Replay');
    await take('tables', '#/tables/ShopCacheTable', 'shop-1001');
    stack.faults.inject({ service: 'sns', kind: 'slow', milliseconds: 1_500, share: 0.5 });
    await take('faults', '#/faults', 'Break something, and watch it heal');
  }, 300_000);
});

/** In both colours and at both widths. @param ready text that is there once the view is */
async function take(name: string, hash: string, ready: string): Promise<void> {
  const { page, context } = open;
  const debugging = await context.newCDPSession(page);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 900]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await open.goto(hash);
      await page.getByText(ready).and(page.locator(':visible')).first().waitFor();
      await sleep(QUIET);
      const { data } = await debugging.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
      await writeFile(`${FOLDER}/${name}-${colorScheme}-${width}.webp`, Buffer.from(data, 'base64'));
    }
  }
}
