import { createHash } from 'node:crypto';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, expect, test } from '@jest/globals';
import { attribute, eventAttributes, stringAttribute } from '../../../lambda/queue/message.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import { eventually } from '../../support/eventually.ts';
import { Partner } from '../../support/partner.ts';
import { Tables } from '../../support/tables.ts';
import { startTestStack } from '../../support/test-stack.ts';
import { FunctionLines } from '../function-lines.ts';
import { type HttpRecorder, type RecorderAnswer, startHttpRecorder } from '../http-recorder.ts';

let cloudFront: HttpRecorder;
let stack: LocalStack;
afterEach(async () => {
  await stack.close();
  await cloudFront.close();
});

const created: RecorderAnswer = {
  status: 201,
  headers: { 'content-type': 'text/xml' },
  body: '<Invalidation xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Id>I1</Id><Status>InProgress</Status></Invalidation>',
};
const refused = (status: number, code: string): RecorderAnswer => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body: `<ErrorResponse xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>No.</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
});

/** The stack with a distribution that gives these answers, the last one for good. */
async function start(answers: readonly RecorderAnswer[], environment: Record<string, string> = {}) {
  let asked = 0;
  cloudFront = await startHttpRecorder(() => answers[Math.min(asked++, answers.length - 1)] ?? created);
  const lines = new FunctionLines();
  stack = await startTestStack({
    environment: {
      DISTRIBUTION_ID: 'E1EXAMPLE',
      INVALIDATION_PATHS: '["/shops/{shop_id}","/shops/{shop_id}/*"]',
      AWS_ENDPOINT_URL_CLOUDFRONT: cloudFront.url,
      FIRST_RETRY_DELAY_SECONDS: '0',
      ...environment,
    },
    onLog: lines.add,
  });
  const logged = (message: string) =>
    eventually(async () => (lines.of('shop-updated', message).length > 0 ? true : undefined));
  return { lines, logged, partner: new Partner(stack.outputs.WebhookUrl) };
}

const event = { event: 'shop.updated', data: { shop_id: 'shop 1' }, timestamp: '2026-01-31T09:00:00Z' };
const idOf = (payload: object) => createHash('sha256').update(JSON.stringify(payload)).digest('hex');
const eventId = idOf(event);
const references = () =>
  cloudFront.requests.map(({ body }) => /<CallerReference>(.*)<\/CallerReference>/.exec(body)?.[1]);

/** Sends an event to its queue, as a replay does. */
const replay = (payload: typeof event, by: Replay) =>
  new SQSClient(stack.operator).send(
    new SendMessageCommand({
      QueueUrl: stack.outputs.ShopUpdatedQueueUrl,
      MessageBody: JSON.stringify(payload),
      MessageAttributes: {
        ...eventAttributes({
          event: payload.event,
          eventId: idOf(payload),
          receivedAt: payload.timestamp,
          requestId: 'r',
        }),
        [attribute.replay]: stringAttribute(JSON.stringify(by)),
      },
    }),
  );

test('shop.updated has the distribution forget the shop, once the cache has', async () => {
  const { partner, logged } = await start([created]);
  await partner.post(event);
  await logged('Processed');
  expect(cloudFront.requests).toEqual([
    expect.objectContaining({
      method: 'POST',
      path: '/2020-05-31/distribution/E1EXAMPLE/invalidation',
      body: expect.stringMatching(
        /<Quantity>2<\/Quantity><Items><Path>\/shops\/shop%201<\/Path><Path>\/shops\/shop%201\/\*<\/Path><\/Items>/,
      ),
    }),
  ]);
  expect(references()).toEqual([eventId]);
});

test('an event that comes again is the same invalidation', async () => {
  const { partner, logged } = await start([created]);
  await partner.post(event);
  await logged('Processed');
  await partner.post(event);
  await logged('Duplicate');
  expect(references()).toEqual([eventId, eventId]);
});

test('a repair is one more invalidation for its name, and only where it wrote', async () => {
  const { lines, partner } = await start([created]);
  const outcomes = (count: number) =>
    eventually(async () => {
      const done = ['Processed', 'Stale'].flatMap((message) => lines.of('shop-updated', message));
      return done.length === count ? true : undefined;
    });
  const newer = { ...event, timestamp: '2026-01-31T10:00:00Z' };
  const newerId = idOf(newer);
  await partner.post(newer);
  await outcomes(1);
  await partner.post(event);
  await outcomes(2);
  expect(references()).toEqual([newerId, eventId]);
  const mend: Replay = { name: 'mend', mode: 'repair', notify: false };
  for (const [count, sent] of [newer, newer, event].entries()) {
    await replay(sent, mend);
    await outcomes(count + 3);
  }
  expect(references().slice(2)).toEqual([`${newerId}-mend`, `${newerId}-mend`]);
  await replay(event, { ...mend, mode: 'fill' });
  await outcomes(6);
  expect(references().slice(4)).toEqual([eventId]);
});

test.each([
  ['TooManyInvalidationsInProgress', 400],
  ['NoSuchDistribution', 404],
  ['InvalidArgument', 400],
])('%s is tried again, though the cache is invalidated by then', async (code, status) => {
  const { lines, partner, logged } = await start([refused(status, code), created]);
  await partner.post(event);
  await logged('Duplicate');
  expect(lines.of('shop-updated', 'Failed')).toEqual([expect.objectContaining({ error: code, eventId })]);
  expect(references()).toEqual([eventId, eventId]);
  const shop = await new Tables(stack.operator).get(stack.outputs.ShopCacheTable, { shop_id: 'shop 1' });
  expect(shop).toHaveProperty('invalidated_at');
});

test('a throttle is tried again at once by the client', async () => {
  const { lines, partner, logged } = await start([refused(400, 'Throttling'), created]);
  await partner.post(event);
  await logged('Processed');
  expect(lines.of('shop-updated', 'Failed')).toEqual([]);
});

test('an event that comes again after the paths were configured anew is done', async () => {
  const { lines, partner, logged } = await start([refused(400, 'InvalidationBatchAlreadyExists')]);
  await partner.post(event);
  await logged('Processed');
  expect(lines.of('shop-updated', 'Failed')).toEqual([]);
});

test.each([
  ['without paths', '', 'Missing environment variables: INVALIDATION_PATHS'],
  ['with unusable paths', '["shops"]', expect.stringContaining('INVALIDATION_PATHS must be')],
])('a distribution %s is a clear error when the function starts', async (_, paths, errorMessage) => {
  await start([created], { INVALIDATION_PATHS: paths });
  const result = await stack.functions.get('shop-updated')?.function.invoke({ Records: [] });
  expect(result).toMatchObject({ ok: false, errorMessage });
});
