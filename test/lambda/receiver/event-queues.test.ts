import { type SendMessageCommandInput, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parsePayload } from '../../../lambda/events/envelope.ts';
import { EventQueues } from '../../../lambda/receiver/event-queues.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws();
});
afterAll(() => aws.close());

const delivery = { eventId: 'e-1', receivedAt: '2026-01-31T09:00:00.000Z', requestId: 'r-1' };

/** Enqueues an event at the real endpoint. @returns what was sent, which SQS does not give back in full */
async function sent(data: object): Promise<SendMessageCommandInput> {
  const client = new SQSClient(aws.operator);
  const inputs: SendMessageCommandInput[] = [];
  client.middlewareStack.add((next) => async (args) => {
    inputs.push(args.input as SendMessageCommandInput);
    return next(args);
  });
  const url = aws.outputs.ReviewPostedQueueUrl ?? '';
  const events = { 'review.posted': url } as ConstructorParameters<typeof EventQueues>[1]['events'];
  const body = Buffer.from(
    JSON.stringify({ event: 'review.posted', data, timestamp: '2026-01-31T09:00:00Z' }),
  );
  const parsed = parsePayload(body);
  if (parsed.kind === 'unusable') throw new Error('The event must be usable');
  await new EventQueues(client, { events, unrouted: url, quarantine: url }).enqueue(parsed, body, delivery);
  const [input] = inputs;
  if (input === undefined) throw new Error('Nothing was sent');
  return input;
}

test('an event is grouped by its shop, so that fair queues keep one busy shop from delaying the others', async () => {
  expect(await sent({ shop_id: 'shop-1' })).toMatchObject({ MessageGroupId: 'shop-1' });
  expect(await sent({ shop_id: 'shop 1' })).toMatchObject({
    MessageGroupId: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('an event without a shop is in no group', async () => {
  expect((await sent({ rating: 5 })).MessageGroupId).toBeUndefined();
});
