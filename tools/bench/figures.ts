import { statSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from 'local-aws/http-server';
import { table } from '../terminal/layout.ts';
import { startFakeAws } from './fake-aws.ts';
import { BENCH_SECRET, bundleReceivers, DELIVERY, receiverEnvironment, runScript } from './receivers.ts';

/** A measurement with a goal. */
interface Figure {
  /** Name of the figure on the command line, such as `module-load`. */
  readonly name: string;
  readonly title: string;
  readonly atMost: number;
  /** @throws Error if it cannot be measured here. A missed goal is not an error. */
  measure(): Promise<Measured>;
}

interface Measured {
  /** Of the rounds of one run. */
  readonly median: number;
  /** How the value was calculated, in one line, such as `4.1 ms ÷ 3.6 ms`. */
  readonly made: string;
}

/** Milliseconds of two things that were measured in succession. */
interface TimePair {
  readonly of: number;
  readonly to: number;
}

/** Starts of each bundle: enough for a stable median on a noisy computer. */
const STARTS = 25;

/** Network delay between a starting function and AWS, each way, in milliseconds. */
const DELAY = 5;

/** Blocks of warm requests for each bundle, in turns, and requests of a block, one after the other. */
const [BLOCKS, REQUESTS] = [25, 40];

const KB = 1_000;

/** Does the work of Lambda's runtime with a function's code: loads it, then passes a request to it. */
const START = `
  const [request, file] = process.argv.slice(1);
  const booted = performance.now();
  const { handler } = await import(file);
  const loaded = performance.now();
  const { statusCode } = await handler(JSON.parse(request), { awsRequestId: 'request' });
  if (statusCode !== 200) throw new Error('Answered ' + statusCode);
  console.error(JSON.stringify({ load: loaded - booted, answer: performance.now() }));
  process.exit();`;

/** Times blocks of requests to two bundles in turns. In the first two blocks, code is still being compiled. */
const BLOCKS_IN_TURNS = `
  const [request, receiver, bare] = process.argv.slice(1);
  const handlers = [(await import(receiver)).handler, (await import(bare)).handler];
  const requests = Array.from({ length: ${REQUESTS} }, () => JSON.parse(request));
  const pairs = [];
  for (let block = 0; block < ${BLOCKS} + 2; block += 1) {
    const times = [];
    for (const handler of handlers) {
      const began = performance.now();
      for (const one of requests) {
        const { statusCode } = await handler(one, { awsRequestId: 'request' });
        if (statusCode !== 200) throw new Error('Answered ' + statusCode);
      }
      times.push(performance.now() - began);
    }
    pairs.push({ of: times[0], to: times[1] });
  }
  console.error(JSON.stringify(pairs.slice(2)));
  process.exit();`;

/**
 * Bundles the receivers, and starts a fake AWS for them.
 * @param network between a function and that AWS
 */
async function openBench(network: 'local' | 'remote, with TLS') {
  await using closing = new AsyncDisposableStack();
  const { path: folder } = closing.use(await mkdtempDisposable(join(tmpdir(), 'bench-')));
  const far = network === 'local' ? undefined : { certificate: await makeCertificate(folder), delay: DELAY };
  const aws = closing.use(await startFakeAws(BENCH_SECRET, far));
  const bundles = await bundleReceivers(folder);
  const environment = { ...receiverEnvironment(aws.queueUrl), ...aws.environment };
  const run = (script: string, ...files: string[]) => runScript(script, [DELIVERY, ...files], environment);
  const opened = closing.move();
  return { bundles, run, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/**
 * Starts a receiver and the bare receiver in turns, each in a process of its own.
 * @param time what is compared: loading the code, or the time until the first answer
 */
async function startPairs(name: 'receiver' | 'withoutWarmUp', time: 'load' | 'answer'): Promise<TimePair[]> {
  await using bench = await openBench(time === 'load' ? 'local' : 'remote, with TLS');
  const start = async (bundle: string) => {
    const { [time]: milliseconds = 0 } = (await bench.run(START, bundle)) as Record<string, number>;
    return milliseconds;
  };
  const pairs: TimePair[] = [];
  for (let round = 1; round <= STARTS; round += 1) {
    pairs.push({ of: await start(bench.bundles[name]), to: await start(bench.bundles.bare) });
  }
  return pairs;
}

/** Times of blocks of warm requests: the receiver's and the bare receiver's. */
async function warmPairs(): Promise<TimePair[]> {
  await using bench = await openBench('local');
  return (await bench.run(BLOCKS_IN_TURNS, bench.bundles.receiver, bench.bundles.bare)) as TimePair[];
}

async function measureIndex(): Promise<Measured> {
  await using bench = await openBench('local');
  const [median = 0, bare = 0] = [bench.bundles.receiver, bench.bundles.bare].map(
    (file) => statSync(file).size / KB,
  );
  return { median, made: `the bare receiver has ${bare.toFixed(0)} KB` };
}

/**
 * The ratios of pairs. Other load on the computer affects both values of a pair.
 * @param repeats how often each of the two was done in the time of a pair
 * @throws Error if there are no pairs
 */
export function compare(pairs: readonly TimePair[], repeats = 1): Measured {
  const times = [pairs.map(({ of }) => of), pairs.map(({ to }) => to)];
  return {
    median: median(pairs.map(({ of, to }) => of / to)),
    made: times.map((all) => `${(median(all) / repeats).toPrecision(3)} ms`).join(' ÷ '),
  };
}

function median(values: readonly number[]): number {
  const value = values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
  if (value === undefined) throw new Error('Nothing was measured');
  return value;
}

export const FIGURES: readonly Figure[] = [
  {
    name: 'module-load',
    title: 'receiver’s module load, without warm-up ÷ bare receiver’s',
    atMost: 1.08,
    measure: async () => compare(await startPairs('withoutWarmUp', 'load')),
  },
  {
    name: 'first-answer',
    title: `process start to the first 200, TLS ${DELAY} ms away ÷ bare receiver’s`,
    atMost: 0.95,
    measure: async () => compare(await startPairs('receiver', 'answer')),
  },
  {
    name: 'warm-request',
    title: 'warm request ÷ bare receiver’s (HMAC, parse, one send)',
    atMost: 1.1,
    measure: async () => compare(await warmPairs(), REQUESTS),
  },
  {
    name: 'index',
    title: 'what the receiver reads to start: index.mjs, in KB',
    atMost: 215,
    measure: measureIndex,
  },
];

export type FigureRow = Omit<Figure, 'measure'> & Measured;

/** @param width of the screen, in characters */
export function figureTable(rows: readonly FigureRow[], width: number): string[] {
  const headings = ['FIGURE', 'GOAL', 'MEDIAN', '', 'MADE OF'];
  return table(
    headings.map((heading) => ({ heading })),
    rows.map(({ title, atMost, median, made }) => [
      title,
      `≤ ${shown(atMost)}`,
      shown(median),
      median <= atMost ? '✓' : '✗',
      made,
    ]),
    width,
  );
}

const shown = (value: number) => value.toFixed(value >= 100 ? 0 : 2);
