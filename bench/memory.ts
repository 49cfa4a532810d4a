import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAws } from './aws/aws.ts';
import { makeCertificate } from './aws/certificate.ts';
import { runChild } from './child.ts';
import { type Figure, spread } from './figure.ts';
import { bundleReceiver, receiverEnvironment } from './receiver.ts';

/** Times that memory is looked at. */
const SAMPLES = 10;

/** Requests between two looks: with {@link SAMPLES} what one run has time for. `BENCH_REQUESTS` asks for other numbers. */
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 5000) / SAMPLES;

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
  title: 'resident memory of the receiver after many requests, as 128 MB are set up',
  goal: { atMost: 110 },
  unit: 'MB',
  async measure({ signal, say }) {
    await using closing = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'memory-'));
    closing.defer(() => rmSync(folder, { recursive: true }));
    // By TLS, as in AWS: for plain HTTP, Node.js loads all of its fetch.
    const aws = closing.use(await startAws({ certificate: await makeCertificate(folder) }));
    await bundleReceiver(join(folder, 'receiver'));
    say(`${SAMPLES * REQUESTS} requests`);
    const resident = (await runChild('bench/memory-child.ts', {
      folder: join(folder, 'child'),
      arguments: [join(folder, 'receiver/index.mjs'), String(SAMPLES), String(REQUESTS)],
      environment: { ...receiverEnvironment(aws.queueUrl), ...aws.environment },
      flags: FLAGS,
      signal,
    })) as number[];
    const later = resident.slice(SAMPLES / 2);
    const shown = resident.map((megabytes) => megabytes.toFixed(0)).join(', ');
    return { ...spread(later), made: `${shown} MB after each ${REQUESTS} requests` };
  },
};
