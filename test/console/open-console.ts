import type { BrowserContext, LaunchOptions, Locator, Page } from 'playwright-core';
import type { LocalStack, LocalStackOptions } from '../../local/local-stack.ts';
import { type LocalConsole, startLocalConsole } from '../../tools/console/local-console.ts';
import { LocalFeed } from '../../tools/stage/history/local-feed.ts';
import { Partner } from '../support/partner.ts';
import { startTestStack, TEST_SECRET } from '../support/test-stack.ts';
import { launchBrowser } from './browser.ts';

/** Milliseconds that the page may take for anything: far beyond what it takes, as machines are noisy. */
const PATIENCE = 30_000;

export const shopUpdated = (shop: string, more: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: shop, name: 'Aozora', updated_fields: ['name'], ...more },
  timestamp: new Date().toISOString(),
});

export const addressOf = (requestId: unknown) => `#/deliveries/${encodeURIComponent(String(requestId))}`;

/** A local stack with its console, and a browser that has it open. */
export class OpenConsole implements AsyncDisposable {
  readonly stack: LocalStack;
  readonly feed: LocalFeed;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly partner: Partner;
  /** What no page should have: errors, and requests that leave this machine. */
  readonly wrongs: string[] = [];
  #console: LocalConsole;

  static async start(
    options: Partial<LocalStackOptions> = {},
    launch: LaunchOptions = {},
  ): Promise<OpenConsole> {
    const feed = new LocalFeed();
    const browsing = launchBrowser(launch);
    const stack = await startTestStack({ observer: feed, onLog: (line) => feed.onLog(line), ...options });
    feed.attach(stack);
    const console = await startLocalConsole(feed, { stack, secret: TEST_SECRET, port: 0 });
    const context = await (await browsing).newContext({
      viewport: { width: 1440, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(PATIENCE);
    const open = new OpenConsole(stack, feed, console, context, await context.newPage());
    await open.goto('');
    return open;
  }

  private constructor(
    stack: LocalStack,
    feed: LocalFeed,
    console: LocalConsole,
    context: BrowserContext,
    page: Page,
  ) {
    this.stack = stack;
    this.feed = feed;
    this.#console = console;
    this.context = context;
    this.page = page;
    this.partner = new Partner(stack.outputs.WebhookUrl);
    const { origin } = new URL(console.url);
    context.on('weberror', (error) => this.wrongs.push(`error: ${error.error().message}`));
    context.on('console', (message) => {
      // The browser itself says so of a request that fails, which some tests want.
      const isNetwork = /Failed to load resource|ERR_/.test(message.text());
      if (message.type() === 'error' && !isNetwork) this.wrongs.push(`console: ${message.text()}`);
    });
    context.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !/^(data|blob|about|file):/.test(url))
        this.wrongs.push(`request: ${url}`);
    });
  }

  get url(): string {
    return this.#console.url;
  }

  /** Loads the page anew. @param hash such as `#/queues` */
  async goto(hash: string): Promise<void> {
    // Another hash alone would be the same page.
    await this.page.goto('about:blank');
    await this.page.goto(`${this.url}${hash}`);
    await this.page.locator('.connection.is-live').waitFor();
  }

  /** Shows a view, without loading the page again. */
  async show(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  }

  /** Posts, and shows its detail. @returns its address */
  async showDelivery(body: unknown, tab = ''): Promise<string> {
    const address = addressOf((await this.partner.post(body)).body.requestId);
    await this.show(`${address}${tab}`);
    return address;
  }

  /** Takes the console away, and brings it back on the same port after some work. */
  async withoutConsole(work: () => Promise<void>): Promise<void> {
    const { port } = new URL(this.url);
    await this.#console[Symbol.asyncDispose]();
    await work();
    const { stack } = this;
    this.#console = await startLocalConsole(this.feed, { stack, secret: TEST_SECRET, port: Number(port) });
  }

  /** Of the list of deliveries, as far as they are in view. */
  get rows(): Locator {
    return this.page.locator('.deliveries-table .tr[data-id]');
  }

  /** The list's rows of a shop, or of anything else that stands in them. */
  row(text: string | RegExp): Locator {
    return this.rows.filter({ hasText: text });
  }

  /** Waits until the list has so many rows. */
  async rowCount(wanted: number): Promise<void> {
    await this.rows.nth(wanted).waitFor({ state: 'hidden' });
    if (wanted > 0) await this.rows.nth(wanted - 1).waitFor();
  }

  /** Waits for what a command prints at its end. */
  async taskOutput(text: RegExp): Promise<void> {
    await this.page.getByRole('region', { name: 'Tasks' }).getByText(text).first().waitFor();
  }

  /** Selects a row, and waits until its detail is there. */
  async select(text: string): Promise<void> {
    await this.row(text).first().click();
    await this.detail.getByText(text).first().waitFor();
  }

  /** What is selected. */
  get detail(): Locator {
    return this.page.locator('#detail');
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.browser()?.close();
    await this.#console[Symbol.asyncDispose]();
    await this.stack.close();
  }
}
