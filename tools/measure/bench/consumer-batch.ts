import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeBundles } from '../../../lib/release/function-bundles.ts';
import { type Figure, ratios, spread } from './figure.ts';
import { runChild } from './processes.ts';

/** Milliseconds that DynamoDB takes to answer. */
const DELAY = 5;

/** Messages of the larger batch: without a batching window, SQS delivers at most ten. */
const BATCH = 10;

/** Batches of each size, in turns. */
const ROUNDS = 450;

/** How much longer a consumer takes for ten messages than for one. */
export const consumerBatch: Figure = {
  name: 'consumer-batch',
  title: `consumer: batch of ${BATCH} ÷ batch of 1, DynamoDB ${DELAY} ms away`,
  goal: { atMost: 1.5 },
  async measure({ signal, onProgress }) {
    await using closing = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'consumer-batch-'));
    closing.defer(() => rmSync(folder, { recursive: true }));
    await writeBundles([
      { entry: 'lambda/events/shop-updated/consumer.ts', folder: join(folder, 'consumer') },
    ]);

    const measured = async (delay: number) => {
      onProgress(`${2 * ROUNDS} batches, DynamoDB ${delay} ms away`);
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

/** Successful answers, by the first part of `X-Amz-Target`. */
const ANSWERS: Readonly<Record<string, (request: { readonly Records?: readonly unknown[] }) => object>> = {
  DynamoDB_20120810: () => ({}),
  Firehose_20150804: ({ Records = [] }) => ({
    FailedPutCount: 0,
    RequestResponses: Records.map((_, index) => ({ RecordId: String(index) })),
  }),
};

/** Fake DynamoDB and Firehose, as fast as possible, because their callers are measured. */
interface Effects extends AsyncDisposable {
  readonly url: string;
}

/** @param delay milliseconds that DynamoDB takes to answer */
async function startEffects(delay: number): Promise<Effects> {
  const server = createServer(async (request, response) => {
    const [service = ''] = String(request.headers['x-amz-target']).split('.');
    const body = (await json(request)) as { readonly Records?: readonly unknown[] };
    const answer = ANSWERS[service]?.(body);
    if (delay > 0 && service.startsWith('DynamoDB')) await sleep(delay);
    response.writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(answer ?? {}));
  });
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
