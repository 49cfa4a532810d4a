import { existsSync } from 'node:fs';
import type { LocalStack, LocalStackOptions } from 'local-aws';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { type Delivery, Partner, TEST_SECRET } from '../../../test/support/partner.ts';
import { startTestStack } from '../../../test/support/test-stack.ts';
import { pageCommands } from '../../commands/page-commands.ts';
import { type Console, startLocalConsole } from '../../console/server/start-console.ts';
import { LocalFeed } from '../../stage/history/local-feed.ts';

/** Usual paths of Chromium and Chrome. The environment variable `CHROMIUM` names another one. */
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:/Program Files/Google/Chrome/Application/chrome.exe',
];

/** The system's Chromium, without a window. @throws Error if none is installed */
export async function launchBrowser(): Promise<Browser> {
  const { CHROMIUM } = process.env;
  const executablePath = CHROMIUM || PLACES.find((place) => existsSync(place));
  if (executablePath === undefined)
    throw new Error('There is no Chromium. Install it or Chrome, or set CHROMIUM to its path');
  // Chromium's sandbox needs permissions that containers rarely have, and the page is our own.
  return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** Timeout in milliseconds: far more than any action takes, for noisy computers. */
const PATIENCE = 30_000;

export const shopUpdated = (shop: string, more: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: shop, name: 'Aozora', updated_fields: ['name'], ...more },
  timestamp: new Date().toISOString(),
});

export const addressOf = (requestId: unknown) => `#/deliveries/${encodeURIComponent(String(requestId))}`;

/** Waits until a page follows the stream. */
export const isLive = (page: Page) => page.locator('[data-connection=live]').waitFor({ state: 'attached' });

const startOn = (stack: LocalStack, feed: LocalFeed, port: number) =>
  startLocalConsole(feed, { stack, secret: TEST_SECRET, port, commands: pageCommands });

/** A local stack, and a browser that has its console open. */
export class OpenConsole implements AsyncDisposable {
  readonly stack: LocalStack;
  readonly feed: LocalFeed;
  readonly page: Page;
  readonly context: BrowserContext;
  readonly partner: Partner;
  /** Errors of the page, and requests to other hosts. Each test expects that there are none. */
  readonly wrongs: string[] = [];
  #console: Console;

  static async start(options: Partial<LocalStackOptions> = {}): Promise<OpenConsole> {
    const feed = new LocalFeed();
    const browsing = launchBrowser();
    const stack = await startTestStack({ observer: feed, onLog: (line) => feed.onLog(line), ...options });
    feed.attach(stack);
    const console = await startOn(stack, feed, 0);
    const context = await (await browsing).newContext({
      viewport: { width: 1440, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(PATIENCE);
    const open = new OpenConsole(stack, feed, console, await context.newPage());
    await open.page.goto(open.url);
    await isLive(open.page);
    return open;
  }

  private constructor(stack: LocalStack, feed: LocalFeed, console: Console, page: Page) {
    this.stack = stack;
    this.feed = feed;
    this.#console = console;
    this.page = page;
    this.context = page.context();
    this.partner = new Partner(stack.outputs.WebhookUrl);
    const { origin } = new URL(console.url);
    this.context.on('weberror', (error) => this.wrongs.push(`error: ${error.error().message}`));
    this.context.on('console', (message) => {
      // The browser also logs failed requests, which some tests cause on purpose.
      const isNetwork = /Failed to load resource|ERR_/.test(message.text());
      if (message.type() === 'error' && !isNetwork) this.wrongs.push(`console: ${message.text()}`);
    });
    this.context.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !/^(data|blob|about|file):/.test(url))
        this.wrongs.push(`request: ${url}`);
    });
  }

  get url(): string {
    return this.#console.url;
  }

  /** Changes the view without loading the page again. */
  async show(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  }

  async showDelivery(body: unknown, delivery?: Delivery): Promise<string> {
    const address = addressOf((await this.partner.post(body, delivery)).body.requestId);
    await this.show(address);
    return address;
  }

  /** Stops the console, runs some work, and starts the console again on the same port. */
  async withoutConsole(work: () => Promise<void>): Promise<void> {
    const { port } = new URL(this.url);
    await this.#console[Symbol.asyncDispose]();
    await work();
    this.#console = await startOn(this.stack, this.feed, Number(port));
  }

  /** Visible rows of the list of deliveries. */
  get rows(): Locator {
    return this.page.locator('.deliveries-table .tr[data-id]');
  }

  /** Rows of the list that contain a text, such as a shop. */
  row(text: string | RegExp): Locator {
    return this.rows.filter({ hasText: text });
  }

  async rowCount(wanted: number): Promise<void> {
    await this.rows.nth(wanted).waitFor({ state: 'hidden' });
    if (wanted > 0) await this.rows.nth(wanted - 1).waitFor();
  }

  /** Opens the output of the toast that has a text. */
  async output(text: RegExp): Promise<void> {
    const notice = this.page.locator('.notice').filter({ hasText: text }).last();
    await notice.getByText('Output').click();
    await notice.locator('pre').getByText(text).waitFor();
    await notice.getByRole('button', { name: 'Close this notice' }).click();
  }

  /** Opens a row and waits for its detail. */
  async select(text: string): Promise<void> {
    await this.row(text).first().click();
    await this.detail.getByText(text).first().waitFor();
  }

  get detail(): Locator {
    return this.page.locator('#detail');
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.browser()?.close();
    await this.#console[Symbol.asyncDispose]();
    this.feed[Symbol.dispose]();
    await this.stack.close();
  }
}
