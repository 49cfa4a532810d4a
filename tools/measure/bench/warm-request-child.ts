import { createHmac } from 'node:crypto';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from '../../../lambda/aws-clients.ts';
import { eventAttributes } from '../../../lambda/queue/message.ts';
import { delivery, SECRET } from './delivery.ts';

const [file = '', queueUrl = '', blocks = '', requests = ''] = process.argv.slice(2);
const { handler } = await import(file);
const client = new SQSClient(clientSettings);
const context = { awsRequestId: 'invocation' };

/** The minimum work: HMAC, parsing, and sending the same message. */
async function bare({ body = '' }: ReturnType<typeof delivery>): Promise<void> {
  const eventId = createHmac('sha256', SECRET).update(body).digest('hex');
  const { event, timestamp, data } = JSON.parse(body);
  await client.send(
    new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: body,
      MessageGroupId: data.shop_id,
      MessageAttributes: eventAttributes({ event, eventId, receivedAt: timestamp, requestId: 'request' }),
    }),
  );
}

async function receive(event: ReturnType<typeof delivery>): Promise<void> {
  const { statusCode } = await handler(event, context);
  if (statusCode !== 200) throw new Error(`Answered ${statusCode}`);
}

/** @returns milliseconds that a block of requests took */
async function time(request: (event: ReturnType<typeof delivery>) => Promise<void>): Promise<number> {
  const deliveries = Array.from({ length: Number(requests) }, (_, number) => delivery(number));
  const began = performance.now();
  for (const event of deliveries) await request(event);
  return performance.now() - began;
}

const pairs: { of: number; to: number }[] = [];
for (let block = -2; block < Number(blocks); block += 1) {
  const pair = { of: await time(receive), to: await time(bare) };
  // In the first blocks, code is still being compiled.
  if (block >= 0) pairs.push(pair);
}
process.send?.(pairs, () => process.exit());
