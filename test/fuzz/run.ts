import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import setUp from '../support/global-setup.ts';
import tearDown from '../support/global-teardown.ts';
import type { TestAws } from '../support/test-aws.ts';
import { FuzzedReceiver } from './receiver-fuzz.ts';

/** `npm run fuzz`: as many requests as wanted, from any seed. Exit code 1 where one is treated wrongly. */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
});
const requests = Number(values.requests);
const seed = Number(values.seed);
if (!Number.isSafeInteger(requests) || requests < 1 || !Number.isSafeInteger(seed)) {
  console.error('Usage: npm run fuzz -- [--requests <number>] [--seed <integer>]');
  process.exit(1);
}

await setUp();
const worker = new Worker(new URL('aws-worker.ts', import.meta.url));
try {
  const [aws] = (await once(worker, 'message')) as [Pick<TestAws, 'outputs' | 'operator'>];
  const receiver = await FuzzedReceiver.load(aws);
  const start = performance.now();
  const { violation, ...report } = await receiver.fuzz(requests, seed, (done) => {
    if (done % 10_000 === 0) console.error(`${done} of ${requests}`);
  });
  receiver.close();
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  console.log(
    JSON.stringify({ seed, requests, seconds, ...report, ...(violation && { violation }) }, null, 2),
  );
  if (violation !== undefined) process.exitCode = 1;
} finally {
  await worker.terminate();
  await tearDown();
}
