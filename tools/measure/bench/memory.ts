import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAws } from './aws/aws.ts';
import { makeCertificate } from './aws/certificate.ts';
import { CHILD_LIMIT, runChild } from './child.ts';
import { exactly, type Figure } from './figure.ts';
import { bundleReceiver, receiverEnvironment } from './receiver.ts';

/** Times that memory is looked at. */
const SAMPLES = 10;

/** Requests in all: what one run has time for. `BENCH_REQUESTS` asks for other numbers. */
const REQUESTS = process.env.BENCH_REQUESTS ?? '5000';

/** How long one of them may take, in milliseconds: several times what it does. */
const REQUEST_LIMIT = 20;

/** The smallest function that Lambda has, in megabytes. */
const MEMORY = 128;

/**
 * What Lambda's own start of Node.js tells it of a function's memory: a tenth for new objects, in two halves, the rest for
 * old ones. Source: `/var/runtime/bootstrap` of the image `public.ecr.aws/lambda/nodejs`; not documented otherwise.
 */
const FLAGS = [
  `--max-semi-space-size=${Math.floor(MEMORY / 10 / 2)}`,
  `--max-old-space-size=${MEMORY - Math.floor(MEMORY / 10)}`,
];

/** Whether one function may go on for long: memory that grows with each request would end it. */
export const memory: Figure = {
  name: 'memory',
  title: `resident memory of the receiver after ${REQUESTS} requests, as ${MEMORY} MB are set up`,
  goal: { atMost: 110 },
  unit: 'MB',
  async measure({ signal, say }) {
    const each = Number(REQUESTS) / SAMPLES;
    if (!Number.isSafeInteger(each) || each <= 0)
      throw new Error(`BENCH_REQUESTS is '${REQUESTS}', and not a multiple of ${SAMPLES}`);
    await using closing = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'memory-'));
    closing.defer(() => rmSync(folder, { recursive: true }));
    // By TLS, as in AWS: for plain HTTP, Node.js loads all of its fetch.
    const aws = closing.use(await startAws({ certificate: await makeCertificate(folder) }));
    await bundleReceiver(join(folder, 'receiver'));
    say(`${REQUESTS} requests`);
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
