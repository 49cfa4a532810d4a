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

/** What axe found, as far as this looks at it. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

const titleOf = (file: string): string => JSON.parse(readFileSync(`docs/api/${file}`, 'utf8')).info.title;

const PAGES = [
  {
    name: 'webhook.html',
    title: titleOf('openapi.json'),
    shows: '/api/v1/webhooks/partner',
    parts: ['.bar', '.menu-content', '.api-info', '[id="operation/receiveEvent"]'],
  },
  {
    name: 'messages.html',
    title: titleOf('asyncapi.json'),
    shows: 'notify-review',
    parts: ['.bar', '.sidebar', '#introduction', '#servers', '[id="operation-send-notify-review"]'],
  },
] as const;

/** In milliseconds: far beyond what it takes, as machines are noisy. */
const PATIENCE = 20_000;

let open: OpenConsole;
/** Without the console, and without its own rules of what is wrong. */
let browser: Browser;
let page: Page;
const wrongs: string[] = [];

beforeAll(async () => {
  open = await OpenConsole.start();
  browser = await launchBrowser();
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(PATIENCE);
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

/** @param parts of the page, one of each kind: the others look the same, and there are many */
async function seriousFindings(parts: readonly string[]): Promise<string[]> {
  const rules = Object.fromEntries(OF_THE_RENDERERS.map((id) => [id, { enabled: false }]));
  const asked = [{ include: parts.map((part) => [part]) }, { rules, elementRef: false }];
  // Evaluated by the browser's debugger: the page's own policy would refuse it.
  await page.evaluate(AXE);
  const found = await page.evaluate(
    `axe.run(...${JSON.stringify(asked)}).then(({ violations }) => violations)`,
  );
  return (found as Violation[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

describe.each(PAGES)('$name', ({ name, title, shows, parts }) => {
  test.each([
    ['from the console', () => `${new URL(open.url).origin}/api-docs/${name}`],
    ['as a file', () => pathToFileURL(resolve('docs/api', name)).href],
  ])('shows what it describes, and loads nothing from elsewhere: %s', async (_, address) => {
    await page.goto(address());
    await page.getByText(title).and(page.locator(':visible')).first().waitFor();
    for (const text of [shows, 'shop.updated']) {
      await page.getByText(text).and(page.locator(':visible')).first().waitFor();
    }
    // The policy lets nothing out, whatever a script tries.
    await page.evaluate("fetch('http://127.0.0.1:1/').catch(() => undefined)");
    const refusals = wrongs.splice(0);
    expect(refusals).not.toEqual([]);
    for (const refusal of refusals) expect(refusal).toMatch(/content security policy/i);
  });

  test.each(['light', 'dark'] as const)('has nothing that axe finds serious, in %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.goto(pathToFileURL(resolve('docs/api', name)).href);
    await page.getByText(title).and(page.locator(':visible')).first().waitFor();
    expect(await seriousFindings(parts)).toEqual([]);
  });
});

test('the console leads to both, and each to the other', async () => {
  const [opened] = await Promise.all([
    open.context.waitForEvent('page'),
    open.page.getByRole('link', { name: 'API', exact: true }).click(),
  ]);
  await opened.getByRole('heading', { name: titleOf('openapi.json') }).waitFor();
  await opened.getByRole('link', { name: 'Messages', exact: true }).click();
  await opened.getByText('notify-review').first().waitFor();
  expect(new URL(opened.url()).pathname).toBe('/api-docs/messages.html');
  await opened.close();
  expect(open.wrongs).toEqual([]);
});
