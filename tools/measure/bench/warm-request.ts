import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAws } from './aws.ts';
import { type Figure, ratios, spread } from './figure.ts';
import { runChild } from './processes.ts';
import { bundleReceiver, receiverEnvironment } from './receiver.ts';

/** Blocks of each side. The sides take turns. */
const BLOCKS = 25;

/** Requests of a block, one after the other, as a function environment gets them. */
const REQUESTS = 40;

/** What the receiver adds to the inevitable work of a warm request. SQS is another process, without TLS. */
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
    onProgress(`${2 * BLOCKS} blocks of ${REQUESTS} requests`);
    const pairs = (await runChild('tools/measure/bench/warm-request-child.ts', {
      folder: join(folder, 'child'),
      arguments: [join(folder, 'receiver/index.mjs'), aws.queueUrl, String(BLOCKS), String(REQUESTS)],
      environment: { ...receiverEnvironment(aws.queueUrl), ...aws.environment },
      signal,
    })) as { of: number; to: number }[];
    const made = [spread(pairs.map(({ of }) => of)), spread(pairs.map(({ to }) => to))];
    return {
      ...ratios(pairs),
      made: made.map(({ median }) => `${(median / REQUESTS).toFixed(2)} ms`).join(' ÷ '),
    };
  },
};
