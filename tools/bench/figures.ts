import { statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from 'local-aws/gateway';
import { startFakeAws } from './fake-aws.ts';
import { compare, type Figure, type Measured, type TimePair } from './figure.ts';
import {
  BENCH_SECRET,
  bundleReceivers,
  gatewayDelivery,
  receiverEnvironment,
  runScript,
} from './receivers.ts';

/** Starts of each bundle: enough for a stable median on a noisy computer. */
const STARTS = 25;

/** Network delay between a starting function and AWS, each way, in milliseconds. */
const DELAY = 5;

/** Blocks of warm requests for each bundle, in turns, and requests of a block, one after the other. */
const [BLOCKS, REQUESTS] = [25, 40];

const KB = 1_000;

/** Does the work of Lambda's runtime with a function's code: loads it, then passes a request to it. */
const START = `
  const [file, request] = process.argv.slice(1);
  const booted = performance.now();
  const { handler } = await import(file);
  const loaded = performance.now();
  const { statusCode } = await handler(JSON.parse(request), { awsRequestId: 'request' });
  console.error(JSON.stringify({ load: loaded - booted, answer: performance.now(), statusCode }));
  process.exit();`;

/** Times blocks of requests to two bundles in turns. In the first two blocks, code is still being compiled. */
const BLOCKS_IN_TURNS = `
  import { readFileSync } from 'node:fs';
  const [receiver, bare, file] = process.argv.slice(1);
  const handlers = [(await import(receiver)).handler, (await import(bare)).handler];
  const pairs = [];
  for (const block of JSON.parse(readFileSync(file))) {
    const times = [];
    for (const handler of handlers) {
      const began = performance.now();
      for (const request of block) {
        const { statusCode } = await handler(request, { awsRequestId: 'request' });
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
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  closing.defer(() => rm(folder, { recursive: true }));
  const far = network === 'local' ? {} : { certificate: await makeCertificate(folder), delay: DELAY };
  const aws = closing.use(await startFakeAws({ secret: BENCH_SECRET, ...far }));
  const bundles = await bundleReceivers(folder);
  const environment = { ...receiverEnvironment(aws.queueUrl), ...aws.environment };
  const opened = closing.move();
  return { folder, bundles, environment, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/**
 * Starts a receiver and the bare receiver in turns, each in a process of its own.
 * @param time what is compared: loading the code, or the time until the first answer
 */
export async function startPairs(
  signal: AbortSignal,
  name: 'receiver' | 'withoutWarmUp',
  time: 'load' | 'answer',
  rounds = STARTS,
): Promise<TimePair[]> {
  await using bench = await openBench(time === 'load' ? 'local' : 'remote, with TLS');
  const start = async (bundle: string) => {
    const words = [bundle, JSON.stringify(gatewayDelivery(0))];
    const started = await runScript(START, words, bench.environment, signal);
    const { statusCode, [time]: milliseconds } = started as Record<string, number>;
    if (statusCode !== 200) throw new Error(`The first request was answered ${statusCode}`);
    return milliseconds ?? 0;
  };
  const pairs: TimePair[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    pairs.push({ of: await start(bench.bundles[name]), to: await start(bench.bundles.bare) });
  }
  return pairs;
}

/** Times of blocks of warm requests: the receiver's and the bare receiver's. */
async function warmPairs(signal: AbortSignal): Promise<TimePair[]> {
  await using bench = await openBench('local');
  const file = join(bench.folder, 'requests.json');
  const requests = Array.from({ length: BLOCKS + 2 }, (_, block) =>
    Array.from({ length: REQUESTS }, (_, index) => gatewayDelivery(block * REQUESTS + index)),
  );
  await writeFile(file, JSON.stringify(requests));
  const words = [bench.bundles.receiver, bench.bundles.bare, file];
  return (await runScript(BLOCKS_IN_TURNS, words, bench.environment, signal)) as TimePair[];
}

async function measureIndex(): Promise<Measured> {
  await using bench = await openBench('local');
  const [size = 0, bare = 0] = [bench.bundles.receiver, bench.bundles.bare].map(
    (file) => statSync(file).size / KB,
  );
  const made = `the bare receiver has ${bare.toFixed(0)} KB`;
  return { median: size, firstQuartile: size, thirdQuartile: size, made };
}

export const FIGURES: readonly Figure[] = [
  {
    name: 'module-load',
    title: 'receiver’s module load, without warm-up ÷ bare receiver’s',
    atMost: 1.12,
    measure: async (signal) => compare(await startPairs(signal, 'withoutWarmUp', 'load')),
  },
  {
    name: 'first-answer',
    title: `process start to the first 200, TLS ${DELAY} ms away ÷ bare receiver’s`,
    atMost: 1.08,
    measure: async (signal) => compare(await startPairs(signal, 'receiver', 'answer')),
  },
  {
    name: 'warm-request',
    title: 'warm request ÷ bare receiver’s (HMAC, parse, one send)',
    atMost: 1.12,
    measure: async (signal) => compare(await warmPairs(signal), REQUESTS),
  },
  {
    name: 'index',
    title: 'what the receiver reads to start: index.mjs, in KB',
    atMost: 215,
    measure: measureIndex,
  },
];
