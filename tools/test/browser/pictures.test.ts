import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { readSamples } from '../../../events/samples.ts';
import { OpenConsole, shopUpdated } from './open-console.ts';

const FOLDER = 'docs/console';

/** Quality of WebP, up to 100. A higher quality does not make text clearer. */
const QUALITY = 80;

/** Milliseconds to wait before a picture: lists refresh, and toasts disappear. */
const QUIET = 1_500;

/** Width of the window in pixels, as in `OpenConsole`. */
const WIDTH = 1440;

const isWanted = process.env.CONSOLE_PICTURES === 'true';

let open: OpenConsole;

/** Runs only with `npx hookctl test-console --pictures`, because the pictures contain the time of day. */
(isWanted ? describe : describe.skip)('pictures', () => {
  beforeAll(async () => {
    await mkdir(FOLDER, { recursive: true });
    open = await OpenConsole.start({ environment: { FIRST_RETRY_DELAY_SECONDS: '0.01' } });
  });
  afterAll(() => open?.[Symbol.asyncDispose]());

  test('of every view with data', async () => {
    const { partner, stack, page } = open;
    for (const { payload } of readSamples()) {
      await partner.post({ ...payload, timestamp: new Date().toISOString() });
    }
    // All deliveries must be processed before a fault begins. Otherwise the pictures would vary.
    for (const { event } of readSamples()) await open.row(event).getByText('Processed').waitFor();
    const end = stack.faults.inject({ service: 'dynamodb', kind: 'down' });
    for (const shop of ['shop-7', 'shop-8', 'shop-9']) await partner.post(shopUpdated(shop));
    await open.row('shop-9').getByText('Dead letter').waitFor({ timeout: 50_000 });
    end();
    await partner.post({ event: 'shop.closed', data: {}, timestamp: new Date().toISOString() });
    await partner.post({ event: 'girl.created', data: {}, timestamp: new Date().toISOString() });
    await partner.post(shopUpdated('shop-1001'), { signature: '0'.repeat(64) });
    await partner.post(shopUpdated('shop-1001', { updated_fields: ['opening_hours'] }));
    await open.row('shop-1001').first().getByText('Processed').waitFor();

    await open.goto('#/deliveries');
    await open.select('shop-1001');
    const { hash } = new URL(page.url());
    await take('deliveries', hash, 'What changed', ['light', 'dark']);
    await take('needs-you', '#/needs-you', 'Redrive all');
    stack.faults.inject({ service: 'sns', kind: 'slow', milliseconds: 1_500, share: 0.5 });
    await take('queues', '#/queues', 'Broken');
  }, 300_000);
});

/** @param ready text that the view shows when it is complete */
async function take(
  name: string,
  hash: string,
  ready: string,
  themes: readonly ('light' | 'dark')[] = ['light'],
): Promise<void> {
  const { page, context } = open;
  const debugging = await context.newCDPSession(page);
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    await open.goto(hash);
    await page.getByText(ready).and(page.locator(':visible')).first().waitFor();
    await sleep(QUIET);
    const { data } = await debugging.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    await writeFile(`${FOLDER}/${name}-${colorScheme}-${WIDTH}.webp`, Buffer.from(data, 'base64'));
  }
}
