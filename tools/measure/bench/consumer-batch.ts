import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeBundles } from '../../../lib/release/function-bundles.ts';
import { startEffects } from './aws/effects.ts';
import { runChild } from './child.ts';
import { type Figure, ratios, spread } from './figure.ts';

/** What DynamoDB takes to answer, in milliseconds. */
const DELAY = 5;

/** Messages of the larger batch: the most that SQS hands over without a window. */
const BATCH = 10;

/** Batches of each size, which take turns. */
const ROUNDS = 450;

/** How much longer a consumer takes for ten messages than for one. */
export const consumerBatch: Figure = {
  name: 'consumer-batch',
  title: `consumer: batch of ${BATCH} ÷ batch of 1, DynamoDB ${DELAY} ms away`,
  goal: { atMost: 1.5 },
  async measure({ signal, say }) {
    await using closing = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'consumer-batch-'));
    closing.defer(() => rmSync(folder, { recursive: true }));
    await writeBundles([
      { entry: 'lambda/events/shop-updated/consumer.ts', folder: join(folder, 'consumer') },
    ]);

    const measured = async (delay: number) => {
      say(`${2 * ROUNDS} batches, DynamoDB ${delay} ms away`);
      await using effects = await startEffects(delay);
      return (await runChild('tools/measure/bench/consumer-batch-child.ts', {
        folder: join(folder, 'child'),
        arguments: [join(folder, 'consumer/index.mjs'), String(BATCH), String(ROUNDS)],
        environment: consumerEnvironment(effects.url),
        signal,
      })) as { of: number; to: number }[];
    };
    const away = await measured(DELAY);
    const beside = await measured(0);
    const [many, one] = [spread(away.map(({ of }) => of)), spread(away.map(({ to }) => to))];
    return {
      ...ratios(away),
      made: `${many.median.toFixed(1)} ms ÷ ${one.median.toFixed(1)} ms; ${ratios(beside).median.toFixed(1)} with DynamoDB beside it`,
    };
  },
};

const consumerEnvironment = (url: string): Record<string, string> => ({
  AWS_ENDPOINT_URL: url,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'key',
  AWS_SESSION_TOKEN: 'token',
  ARCHIVE_STREAM: 'archive',
  DEAD_LETTER_QUEUE_URL: `${url}/000000000000/dead-letters`,
  FIRST_RETRY_DELAY_SECONDS: '30',
  MAXIMUM_RECEIVES: '10',
  POWERTOOLS_SERVICE_NAME: 'shop-updated',
  QUEUE_URL: `${url}/000000000000/queue`,
  SHOP_CACHE_TABLE: 'shop-cache',
});
