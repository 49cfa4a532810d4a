import { answered } from '../tools/console/support.ts';
import { OpenConsole, shopUpdated } from './open-console.ts';

/** Number of deliveries whose time to the page is measured. */
const SENT = 200;

/** Deliveries in the list while it is scrolled. */
const MANY = 10_000;

/** The last of them come at once, while the list is visible. */
const BURST = 1_000;

/** Milliseconds for which frames are recorded, and pixels scrolled per frame: as fast as a flung wheel. */
const RECORDED = 4_000;
const PIXELS = 6;

/** Milliseconds until added deliveries are drawn and garbage is collected. */
const QUIET = 3_000;

interface Frames {
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

export interface Measured {
  /** From before the POST until the line is in the document, in milliseconds. */
  readonly postToLine: { readonly median: number; readonly p99: number };
  /** Between two frames while 10,000 deliveries are scrolled, in milliseconds. */
  readonly frames: Frames;
  /** The same while 1,000 deliveries come at once. */
  readonly burst: Frames;
  /** Memory of the page with 10,000 deliveries, in MB. */
  readonly heap: number;
}

/** Playwright would end the process before others have cleaned up. */
const SIGNALS_ARE_OURS = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };

/**
 * Measures the page in a real browser, with its own stack.
 * @param assembly folder of the synthesised stack
 * @param signal ends it
 */
export async function measureConsole(assembly: string, signal: AbortSignal): Promise<Measured> {
  signal.throwIfAborted();
  process.env.TEST_ASSEMBLY = assembly;
  await using open = await OpenConsole.start({}, SIGNALS_ARE_OURS);
  // All pending calls to the page then fail.
  signal.addEventListener('abort', () => void open.page.close());
  signal.throwIfAborted();
  const postToLine = await measureLines(open);
  for (let number = 0; number < MANY - BURST; number += 1) open.feed.onExchange(exchangeOf(number));
  await open.row(`measured-${MANY - BURST - 1}`).waitFor();
  await open.page.waitForTimeout(QUIET);
  const burst = open.page.evaluate(framesWhile('')) as Promise<number[]>;
  for (let number = MANY - BURST; number < MANY; number += 1) open.feed.onExchange(exchangeOf(number));
  await open.row(`measured-${MANY - 1}`).waitFor();
  const burstFrames = framesOf(await burst);
  const scroll = `document.querySelector('.deliveries-table').scrollTop = (now - begun) * ${PIXELS};`;
  const frames = framesOf((await open.page.evaluate(framesWhile(scroll))) as number[]);
  const debugging = await open.context.newCDPSession(open.page);
  await debugging.send('HeapProfiler.collectGarbage');
  const heap = (await open.page.evaluate('performance.memory.usedJSHeapSize')) as number;
  return { postToLine, frames, burst: burstFrames, heap: heap / 1024 / 1024 };
}

async function measureLines({ page, partner }: OpenConsole): Promise<Measured['postToLine']> {
  const seen = new Map<string, number>();
  await page.exposeFunction('seenAt', (shop: string, at: number) => {
    if (!seen.has(shop)) seen.set(shop, at);
  });
  // The first delivery creates the list. A script in the document records the following ones.
  await partner.post(shopUpdated('shop-first'));
  await page.getByText('shop-first').first().waitFor();
  await page.evaluate(`new MutationObserver(() => {
    for (const { textContent } of document.querySelectorAll('.col-shop')) seenAt(textContent, Date.now());
  }).observe(document.querySelector('.deliveries-table'), { childList: true, subtree: true, characterData: true })`);
  const times: number[] = [];
  for (let number = 0; number < SENT; number += 1) {
    const shop = `shop-m-${number}`;
    const begun = Date.now();
    await partner.post(shopUpdated(shop));
    while (!seen.has(shop)) await page.waitForTimeout(10);
    times.push((seen.get(shop) ?? 0) - begun);
  }
  return { median: share(times, 0.5), p99: share(times, 0.99) };
}

/** Resolves with the duration of each frame. @param work JavaScript for each frame */
const framesWhile = (work: string) => `new Promise((resolve) => {
  const frames = [];
  const begun = performance.now();
  let last = begun;
  const frame = (now) => {
    frames.push(now - last);
    last = now;
    ${work}
    if (now - begun < ${RECORDED}) requestAnimationFrame(frame);
    else resolve(frames.slice(1));
  };
  requestAnimationFrame(frame);
})`;

const framesOf = (frames: readonly number[]): Frames => ({
  median: share(frames, 0.5),
  p99: share(frames, 0.99),
  longest: Math.max(...frames),
});

const share = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;

/** An answered request, as the local stack reports it. */
export const exchangeOf = (number: number) =>
  answered(
    `request-${number}`,
    Buffer.from(JSON.stringify(shopUpdated(`measured-${number}`))),
    new Date(Date.now() - MANY + number),
  );
