import type { SQSRecord } from 'aws-lambda';

/** Warm-up batches of each size, which do not count: the code is still being compiled. */
const WARM_UP = 150;

const [file = '', batch = '', rounds = ''] = process.argv.slice(2);
const { handler } = await import(file);
const context = { awsRequestId: 'invocation', getRemainingTimeInMillis: () => 60_000 };
let number = 0;

/** @returns milliseconds that a batch took */
async function time(size: number): Promise<number> {
  const Records = Array.from({ length: size }, recordOf);
  const began = performance.now();
  const { batchItemFailures } = await handler({ Records }, context);
  const milliseconds = performance.now() - began;
  if (batchItemFailures.length > 0) throw new Error(`${batchItemFailures.length} of ${size} failed`);
  return milliseconds;
}

/** Each message is about another shop. */
function recordOf(): SQSRecord {
  number += 1;
  const text = (stringValue: string) => ({ dataType: 'String' as const, stringValue });
  return {
    messageId: String(number),
    receiptHandle: String(number),
    body: JSON.stringify({
      event: 'shop.updated',
      timestamp: '2026-01-01T00:00:00Z',
      data: { shop_id: `shop-${number}`, updated_fields: ['name', 'hours'] },
    }),
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1767225600000',
      SenderId: 'receiver',
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
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:queue',
    awsRegion: 'us-east-1',
  };
}

const pairs: { of: number; to: number }[] = [];
for (let round = -WARM_UP; round < Number(rounds); round += 1) {
  const pair = { of: await time(Number(batch)), to: await time(1) };
  if (round >= 0) pairs.push(pair);
}
process.send?.(pairs, () => process.exit());
