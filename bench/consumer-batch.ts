import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { writeBundle } from '../lib/bundle.ts';
import { AnsweringEndpoint } from './answering-endpoint.ts';
import { type Figure, ratios, spread } from './figure.ts';

/** What DynamoDB takes to answer, in milliseconds: the issue of a network, not of a machine. */
const DELAY = 5;

/** Messages of the larger batch: the most that SQS hands over without a window. */
const BATCH = 10;

/** Of each size, in turns; the first ones, in which code is compiled, do not count. */
const ROUNDS = 600;
const WARM_UP = 150;

/** How much longer a consumer takes for ten messages than for one. */
export const consumerBatch: Figure = {
  name: 'consumer-batch',
  title: `consumer: batch of ${BATCH} ÷ batch of 1, DynamoDB ${DELAY} ms away`,
  goal: { atMost: 1.5 },
  async measure({ signal, say }) {
    const folder = mkdtempSync(join(tmpdir(), 'consumer-batch-'));
    try {
      await writeBundle('lambda/consumers/shop-updated.ts', folder);
      const file = join(folder, 'index.mjs');
      say(`${ROUNDS} batches of each size`);
      const delayed = await pairsOf(file, { DynamoDB_20120810: DELAY }, signal);
      say(`${ROUNDS} batches of each size, without delay`);
      const direct = await pairsOf(file, {}, signal);
      const [many, one] = [spread(delayed.map(({ of }) => of)), spread(delayed.map(({ to }) => to))];
      return {
        ...ratios(delayed),
        made: `${many.median.toFixed(1)} ms ÷ ${one.median.toFixed(1)} ms; ${ratios(direct).median.toFixed(1)} without delay`,
      };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

type Pair = { readonly of: number; readonly to: number };

async function pairsOf(file: string, delays: Record<string, number>, signal: AbortSignal): Promise<Pair[]> {
  using endpoint = await AnsweringEndpoint.start(delays);
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), file], {
    signal,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      AWS_ENDPOINT_URL: endpoint.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      ARCHIVE_STREAM: 'x',
      DEAD_LETTER_QUEUE_URL: 'x',
      FIRST_RETRY_DELAY_SECONDS: '30',
      MAXIMUM_RECEIVES: '10',
      QUEUE_URL: 'x',
      SHOP_CACHE_TABLE: 'x',
    },
  });
  const ended = once(child, 'exit');
  let pairs: Pair[] | undefined;
  child.on('message', (message: Pair[]) => {
    pairs = message;
  });
  await ended;
  if (pairs === undefined) throw new Error('The consumer ended without a result');
  return pairs;
}

async function run(file: string): Promise<void> {
  const { handler } = (await import(file)) as {
    handler: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
  };
  const context = {
    awsRequestId: 'x',
    functionName: 'x',
    getRemainingTimeInMillis: () => 60_000,
  } as Context;
  let number = 0;
  const time = async (size: number) => {
    const Records = Array.from({ length: size }, () => recordOf(number++));
    const begun = performance.now();
    const { batchItemFailures } = await handler({ Records }, context);
    const milliseconds = performance.now() - begun;
    if (batchItemFailures.length > 0) throw new Error(`${batchItemFailures.length} of ${size} failed`);
    return milliseconds;
  };
  const pairs: Pair[] = [];
  for (let round = 0; round < ROUNDS; round += 1) pairs.push({ of: await time(BATCH), to: await time(1) });
  process.send?.(pairs.slice(WARM_UP));
  process.disconnect?.();
}

function recordOf(number: number): SQSRecord {
  const body = JSON.stringify({
    event: 'shop.updated',
    timestamp: '2026-01-01T00:00:00Z',
    data: { shop_id: `shop-${number}`, updated_fields: ['name', 'hours'] },
  });
  const text = (stringValue: string) => ({ dataType: 'String', stringValue });
  return {
    messageId: String(number),
    receiptHandle: String(number),
    body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1767225600000',
      SenderId: 'x',
      ApproximateFirstReceiveTimestamp: '1767225600000',
    },
    messageAttributes: {
      event: text('shop.updated'),
      eventId: text(String(number).padStart(64, '0')),
      requestId: text(String(number)),
      receivedAt: text('2026-01-01T00:00:00.000Z'),
    },
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'x',
    awsRegion: 'us-east-1',
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(process.argv[2] ?? '');
