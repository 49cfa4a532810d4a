import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { GatewayKind } from '../../tools/cli/terminal/options.ts';
import setUp from '../support/global-setup.ts';
import tearDown from '../support/global-teardown.ts';
import type { TestAws } from '../support/test-aws.ts';
import { FuzzedReceiver, type FuzzReport } from './receiver-fuzz.ts';

/**
 * Sends as many requests as wanted to the receiver.
 * @param seed the same seed makes the same requests
 * @param gateway the kind of API that hands them over
 * @param onProgress told how many there have been
 */
export async function fuzz(
  requests: number,
  seed: number,
  gateway: GatewayKind,
  onProgress: (done: number) => void,
): Promise<FuzzReport> {
  await setUp();
  const worker = new Worker(new URL('aws-worker.ts', import.meta.url));
  try {
    const [aws] = (await once(worker, 'message')) as [Pick<TestAws, 'outputs' | 'operator'>];
    const receiver = await FuzzedReceiver.load(aws, gateway);
    try {
      return await receiver.fuzz(requests, seed, onProgress);
    } finally {
      receiver.close();
    }
  } finally {
    await worker.terminate();
    await tearDown();
  }
}
