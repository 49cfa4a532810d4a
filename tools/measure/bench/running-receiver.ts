import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate, startAws } from './aws.ts';
import { exactly, type Figure, ratios, spread } from './figure.ts';
import { CHILD_LIMIT, runChild } from './processes.ts';
import { bundleReceiver, receiverEnvironment } from './receiver.ts';

/** Blocks of each side, in turns. */
const BLOCKS = 25;

/** Requests of a block, one after the other, as a function environment gets them. */
const REQUESTS_OF_BLOCK = 40;

/** Overhead of the receiver compared with the minimum work of a warm request. SQS is another process, without TLS. */
export const warmRequest: Figure = {
  name: 'warm-request',
  title: 'warm request ÷ (HMAC + parse + one send)',
  goal: { atMost: 1.2 },
  async measure({ signal, onProgress }) {
    await using closing = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'warm-request-'));
    closing.defer(() => rmSync(folder, { recursive: true }));
    const aws = closing.use(await startAws());
    await bundleReceiver(join(folder, 'receiver'));
    onProgress(`${2 * BLOCKS} blocks of ${REQUESTS_OF_BLOCK} requests`);
    const pairs = (await runChild('tools/measure/bench/warm-request-child.ts', {
      folder: join(folder, 'child'),
      arguments: [
        join(folder, 'receiver/index.mjs'),
        aws.queueUrl,
        String(BLOCKS),
        String(REQUESTS_OF_BLOCK),
      ],
      environment: { ...receiverEnvironment(aws.queueUrl), ...aws.environment },
      signal,
    })) as { of: number; to: number }[];
    const made = [spread(pairs.map(({ of }) => of)), spread(pairs.map(({ to }) => to))];
    return {
      ...ratios(pairs),
      made: made.map(({ median }) => `${(median / REQUESTS_OF_BLOCK).toFixed(2)} ms`).join(' ÷ '),
    };
  },
};

/** Number of memory measurements. */
const SAMPLES = 10;

/** Total number of requests. */
const REQUESTS = process.env.BENCH_REQUESTS ?? '5000';

/** Timeout of a request in milliseconds: several times its usual duration. */
const REQUEST_LIMIT = 20;

/** The smallest memory size of a Lambda function, in megabytes. */
const MEMORY = 128;

/**
 * Node.js options for a function of this size, as Lambda sets them: a tenth for new objects, in two halves, the rest
 * for old ones. Source: `/var/runtime/bootstrap` of the image `public.ecr.aws/lambda/nodejs`; not documented.
 */
const FLAGS = [
  `--max-semi-space-size=${Math.floor(MEMORY / 10 / 2)}`,
  `--max-old-space-size=${MEMORY - Math.floor(MEMORY / 10)}`,
];

/** Whether memory grows with each request, which would kill a function environment after some time. */
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
