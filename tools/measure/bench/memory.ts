import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate, startAws } from './aws.ts';
import { exactly, type Figure } from './figure.ts';
import { CHILD_LIMIT, runChild } from './processes.ts';
import { bundleReceiver, receiverEnvironment } from './receiver.ts';

/** Measurements of memory. */
const SAMPLES = 10;

/** Requests in all. */
const REQUESTS = process.env.BENCH_REQUESTS ?? '5000';

/** Milliseconds that a request may take: several times what it takes. */
const REQUEST_LIMIT = 20;

/** The smallest function that Lambda has, in megabytes. */
const MEMORY = 128;

/**
 * Node.js' options for a function of this size, as Lambda sets them: a tenth for new objects, in two halves, the rest for old
 * ones. Source: `/var/runtime/bootstrap` of the image `public.ecr.aws/lambda/nodejs`; not documented otherwise.
 */
const FLAGS = [
  `--max-semi-space-size=${Math.floor(MEMORY / 10 / 2)}`,
  `--max-old-space-size=${MEMORY - Math.floor(MEMORY / 10)}`,
];

/** Whether memory grows with each request: a function environment would not last then. */
export const memory: Figure = {
  name: 'memory',
  title: `resident memory of the receiver after ${REQUESTS} requests, as ${MEMORY} MB are set up`,
  goal: { atMost: 110 },
  unit: 'MB',
  async measure({ signal, onProgress }) {
    const each = Number(REQUESTS) / SAMPLES;
    if (!Number.isSafeInteger(each) || each <= 0)
      throw new Error(`BENCH_REQUESTS is '${REQUESTS}', and not a multiple of ${SAMPLES}`);
    await using closing = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'memory-'));
    closing.defer(() => rmSync(folder, { recursive: true }));
    // TLS, as in AWS. With plain HTTP, Node.js loads its whole fetch.
    const aws = closing.use(await startAws({ certificate: await makeCertificate(folder) }));
    await bundleReceiver(join(folder, 'receiver'));
    onProgress(`${REQUESTS} requests`);
    const resident = (await runChild('tools/measure/bench/memory-child.ts', {
      folder: join(folder, 'child'),
      arguments: [join(folder, 'receiver/index.mjs'), String(SAMPLES), String(each)],
      environment: { ...receiverEnvironment(aws.queueUrl), ...aws.environment },
      flags: FLAGS,
      signal,
      limit: CHILD_LIMIT + Number(REQUESTS) * REQUEST_LIMIT,
    })) as number[];
    const [middle = 0, last = 0] = [resident[SAMPLES / 2 - 1], resident.at(-1)];
    const shown = resident.map((megabytes) => megabytes.toFixed(0)).join(', ');
    return {
      ...exactly(last),
      made: `${shown} MB after each ${each}: ${(last - middle).toFixed(1)} more since the middle`,
    };
  },
};
