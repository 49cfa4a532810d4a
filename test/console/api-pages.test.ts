import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { OpenConsole } from './open-console.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What Redoc does, and no style of ours changes: its menu has labels that leave out the mark before them. */
const OF_REDOC = ['label-content-name-mismatch'];

/** What axe found, as far as this looks at it. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

const FILE = pathToFileURL(resolve('docs/api/webhook.html')).href;

const TITLE: string = JSON.parse(readFileSync('docs/api/openapi.json', 'utf8')).info.title;

/** Of the page, one of each kind: the others look the same, and there are many. */
const PARTS = ['.menu-content', '.api-info', '[id="tag/Endpoint/operation/receiveEvent"]'];

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

async function seriousFindings(): Promise<string[]> {
  const rules = Object.fromEntries(OF_REDOC.map((id) => [id, { enabled: false }]));
  const asked = [{ include: PARTS.map((part) => [part]) }, { rules, elementRef: false }];
  // Evaluated by the browser's debugger: the page's own policy would refuse it.
  await page.evaluate(AXE);
  const found = await page.evaluate(
    `axe.run(...${JSON.stringify(asked)}).then(({ violations }) => violations)`,
  );
  return (found as Violation[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

describe('webhook.html', () => {
  test.each([
    ['from the console', () => `${new URL(open.url).origin}/api-docs/webhook.html`],
    ['as a file', () => FILE],
  ])('shows what it describes, and loads nothing from elsewhere: %s', async (_, address) => {
    await page.goto(address());
    await page.getByRole('heading', { name: TITLE }).waitFor();
    await page.getByText('/api/v1/webhooks/partner').and(page.locator(':visible')).first().waitFor();
    // The policy lets nothing out, whatever a script tries.
    await page.evaluate("fetch('http://127.0.0.1:1/').catch(() => undefined)");
    const refusals = wrongs.splice(0);
    expect(refusals).not.toEqual([]);
    for (const refusal of refusals) expect(refusal).toMatch(/content security policy/i);
  });

  test('shows how to sign, and the fields of data without a click', async () => {
    await page.goto(FILE);
    await page.getByText('updated_fields', { exact: true }).first().waitFor();
    await page.getByRole('tab', { name: 'Python' }).click();
    await page.getByText('hmac.new(secret, body, hashlib.sha256)').waitFor();
  });

  test('cuts nothing at 390 pixels', async () => {
    await page.setViewportSize({ width: 390, height: 900 });
    await page.goto(FILE);
    for (const name of ['Payload', 'curl', 'Node.js', 'Python', 'PHP', 'Go']) {
      await page.getByRole('tab', { name, exact: true }).click();
      expect([name, await page.evaluate(CUT)]).toEqual([name, []]);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('has nothing that axe finds serious', async () => {
    await page.goto(FILE);
    await page.getByRole('heading', { name: TITLE }).waitFor();
    expect(await seriousFindings()).toEqual([]);
  });
});

/** The texts that stand outside of the window, or of an element that hides or scrolls what is wider. */
const CUT = `[...document.querySelectorAll('#redoc .api-content *')]
  .filter((element) => {
    const { left, right, width } = element.getBoundingClientRect();
    const isWider = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
    const isCut = isWider && getComputedStyle(element).overflowX !== 'visible';
    return width > 0 && element.textContent !== '' && (left < 0 || right > innerWidth || isCut);
  })
  .map((element) => element.textContent.slice(0, 60))`;

test('the console leads to it', async () => {
  const [opened] = await Promise.all([
    open.context.waitForEvent('page'),
    open.page.getByRole('link', { name: 'API', exact: true }).click(),
  ]);
  await opened.getByRole('heading', { name: TITLE }).waitFor();
  await opened.close();
  expect(open.wrongs).toEqual([]);
});
