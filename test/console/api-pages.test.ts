import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { OpenConsole } from './open-console.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What the renderers do, and no style of ours changes: Redoc's menu has labels that leave out the mark before them, and
 * AsyncAPI's component has a text within a list, before its items.
 */
const OF_THE_RENDERERS = ['label-content-name-mismatch', 'list'];

const PAGES = [
  { name: 'webhook.html', heading: 'Partner webhooks: what you send us', shows: '/api/v1/webhooks/partner' },
  { name: 'messages.html', heading: 'Partner webhooks: queues and topics', shows: 'notify-review' },
] as const;

let open: OpenConsole;
/** Without the console, and without its own rules of what is wrong. */
let browser: Browser;
let page: Page;
const wrongs: string[] = [];

beforeAll(async () => {
  open = await OpenConsole.start();
  browser = await launchBrowser();
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') wrongs.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    const isHere =
      ['file:', 'data:', 'about:'].includes(url.protocol) || url.origin === new URL(open.url).origin;
    if (!isHere) wrongs.push(`request: ${url}`);
  });
});
afterAll(async () => {
  await browser?.close();
  await open?.[Symbol.asyncDispose]();
});
afterEach(() => {
  expect(wrongs).toEqual([]);
});

async function seriousFindings(): Promise<string[]> {
  // Evaluated by the browser's debugger: the page's own policy would refuse it.
  await page.evaluate(AXE);
  return (await page.evaluate(
    `axe.run({ rules: ${JSON.stringify(Object.fromEntries(OF_THE_RENDERERS.map((id) => [id, { enabled: false }])))} })
      .then(({ violations }) => violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).slice(0, 3).join(' ')))`,
  )) as string[];
}

describe.each(PAGES)('$name', ({ name, heading, shows }) => {
  test.each([
    ['from the console', () => `${new URL(open.url).origin}/api-docs/${name}`],
    ['as a file', () => pathToFileURL(resolve('docs/api', name)).href],
  ])('shows what it describes, and loads nothing from elsewhere: %s', async (_, address) => {
    await page.goto(address());
    await page.getByText(heading).and(page.locator(':visible')).first().waitFor();
    for (const text of [shows, 'shop.updated']) {
      await page.getByText(text).and(page.locator(':visible')).first().waitFor();
    }
    // The policy lets nothing out, whatever a script tries.
    expect(await page.evaluate("fetch('http://127.0.0.1:1/').then(() => 'let out', () => 'refused')")).toBe(
      'refused',
    );
    const refusal = /content security policy/i;
    expect(wrongs.splice(0).filter((wrong) => !refusal.test(wrong))).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('has nothing that axe finds serious, in %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.goto(pathToFileURL(resolve('docs/api', name)).href);
    await page.getByText(heading).and(page.locator(':visible')).first().waitFor();
    expect(await seriousFindings()).toEqual([]);
  });
});

test('the console leads to both, and each to the other', async () => {
  const [opened] = await Promise.all([
    open.context.waitForEvent('page'),
    open.page.getByRole('link', { name: 'API', exact: true }).click(),
  ]);
  await opened.getByRole('heading', { name: /what you send us/ }).waitFor();
  await opened.getByRole('link', { name: 'Messages', exact: true }).click();
  await opened.getByText('notify-review').first().waitFor();
  expect(new URL(opened.url()).pathname).toBe('/api-docs/messages.html');
  await opened.close();
  expect(open.wrongs).toEqual([]);
});
