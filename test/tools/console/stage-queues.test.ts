import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { DEAD, shopUpdated } from '../stage/queues/support.ts';
import { type StageConsole, startStageConsole } from './stage-console.ts';

let aws: TestAws;
let stage: StageConsole;

beforeAll(async () => {
  aws = await startTestAws();
  stage = await startStageConsole(aws);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await aws.close();
});
beforeEach(() => stage.operator.empty());

const dead = () => stage.operator.outputs.ShopUpdatedDeadLetterQueueUrl;

test('a look at the dead letters of a stage gives back what it has received', async () => {
  for (let count = 0; count < 12; count += 1) await stage.operator.put(dead(), shopUpdated('shop-1'), DEAD);
  const { body } = await stage.api.get('/api/queues/dead:shop.updated/messages?limit=11');
  expect(body.messages).toHaveLength(11);
  expect(body.limited).toBe(true);
  expect(body.messages[0]).toMatchObject({ state: 'waiting', receives: 1, reason: DEAD.failureReason });
  const { body: letters } = await stage.api.get('/api/dead-letters');
  expect(letters.groups).toMatchObject([{ reason: DEAD.failureReason, count: 12 }]);
  const { Messages = [] } = await stage.operator.queues.client.send(
    new ReceiveMessageCommand({ QueueUrl: dead(), MaxNumberOfMessages: 10, VisibilityTimeout: 0 }),
  );
  expect(Messages).toHaveLength(10);
});

test('two looks at once see the same', async () => {
  await stage.operator.put(dead(), shopUpdated('shop-1'), DEAD);
  const looks = await Promise.all(
    Array.from({ length: 4 }, () => stage.api.get('/api/queues/dead:shop.updated/messages')),
  );
  expect(looks.map(({ body }) => body.messages.length)).toEqual([1, 1, 1, 1]);
});

test('where nothing may be changed a queue says how full it is, and is not looked into', async () => {
  const id = await stage.operator.put(dead(), shopUpdated('shop-1'), DEAD);
  await using reader = await startStageConsole(aws, { readOnly: true });
  for (const path of ['/api/queues/dead:shop.updated/messages', '/api/dead-letters']) {
    expect(await reader.api.get(path)).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/start the console without --read-only$/) },
    });
  }
  const { body: queues } = await reader.api.get('/api/queues');
  expect(queues.events.find(({ event }: { event: string }) => event === 'shop.updated')).toMatchObject({
    dead: { visible: 1 },
  });
  const { body } = await stage.api.get('/api/queues/dead:shop.updated/messages');
  expect(body.messages).toMatchObject([{ id, receives: 1 }]);
});

test('an event’s own queue is not looked into, as that would be an attempt', async () => {
  await stage.operator.put(stage.operator.outputs.ShopUpdatedQueueUrl, shopUpdated('shop-1'));
  const { status, body } = await stage.api.get('/api/queues/shop.updated/messages');
  expect({ status, detail: body.detail }).toEqual({
    status: 409,
    detail: expect.stringContaining('each receive of shop.updated is one of its ten attempts'),
  });
  const { body: queues } = await stage.api.get('/api/queues');
  expect(queues.events.find(({ event }: { event: string }) => event === 'shop.updated')).toMatchObject({
    visible: 1,
    inFlight: 0,
  });
});
