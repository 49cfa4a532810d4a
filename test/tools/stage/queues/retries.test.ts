import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from '../../../../local/local-stack.ts';
import { list } from '../../../../tools/stage/queues/dlq-list.ts';
import { pause, resume } from '../../../../tools/stage/queues/pause.ts';
import type { Stage } from '../../../../tools/stage/stage.ts';
import { eventually } from '../../../support/eventually.ts';
import { Partner } from '../../../support/partner.ts';
import { startTestStack } from '../../../support/test-stack.ts';
import { crashConsumer } from '../history/crashing-consumer.ts';
import { Operator } from './support.ts';

const shop = (shop_id: string) => ({
  event: 'shop.updated',
  data: { shop_id },
  timestamp: '2026-01-31T09:00:00Z',
});

let stack: LocalStack;
let operator: Operator;
let eventId: string;

beforeAll(async () => {
  stack = await startTestStack();
  operator = await Operator.create(stack);
  const partner = new Partner(stack.outputs.WebhookUrl);
  await partner.post(shop('shop-1'));
  await eventually(async () =>
    (await operator.queues.count(stack.outputs.ShopUpdatedQueueUrl)) === 0 ? true : undefined,
  );
  stack.faults.inject({ service: 'dynamodb', kind: 'throttled' });
  eventId = String((await partner.post(shop('shop-2'))).body.eventId);
});
afterAll(async () => {
  await operator.close();
  await stack.close();
});

async function listed(
  found: Stage,
  { json = false, width = Number.POSITIVE_INFINITY } = {},
): Promise<string> {
  const operation = { ...operator.operation(), stack: found, width };
  await list(operation, { json });
  return operation.said.join('\n');
}

test('a message that backs off is listed, with its failures so far and its next attempt', async () => {
  const text = await eventually(async () => {
    const lines = await listed(operator.stack);
    return lines.includes('Retrying') ? lines : undefined;
  });
  expect(text).toMatch(
    new RegExp(
      `Retrying: 1 message failed\\. .*\n\nDynamoDB UpdateItem: ProvisionedThroughputExceededException.*\nEVENT .*\nshop\\.updated +${eventId} +1 × +\\d+ s ago +in \\d+ s\n`,
    ),
  );
  expect(text).toMatch(/\nshop\.updated +0 +1 +1 retrying\n/);
});

test('while its event is paused, it is tried again once resumed', async () => {
  await pause(operator.operation(), 'shop.updated', 'The table is being restored');
  const text = await listed(operator.stack);
  expect(text).toMatch(/\nshop\.updated +0 +1 +paused; 1 retrying\n/);
  expect(text).toMatch(/\nshop\.updated .* ago +once resumed\n/);
  await resume(operator.operation(), 'shop.updated');
});

test('on a terminal its id is shortened, and the table fits', async () => {
  const text = await listed(operator.stack, { width: 60 });
  expect(text).toContain(eventId.slice(0, 8));
  expect(text).not.toContain(eventId);
  const cells = text.split('\n').filter((line) => line.includes('  '));
  expect(Math.max(...cells.map(({ length }) => length))).toBeLessThanOrEqual(60);
});

test('for programs it is JSON, with whole ids', async () => {
  const { queues, eventQueues, retries, inFlight } = JSON.parse(
    await listed(operator.stack, { json: true, width: 60 }),
  );
  expect(queues).toContainEqual({ queue: 'shop.updated', messages: 0, inFlight: 0, delayed: 0 });
  expect(eventQueues).toContainEqual({ event: 'shop.updated', messages: 0, inFlight: 1, delayed: 0 });
  expect(retries).toEqual([expect.objectContaining({ event: 'shop.updated', eventId, attempt: 1 })]);
  expect(inFlight).toEqual([]);
});

test('where the log cannot be read it says how many there are, and why not which', async () => {
  const { ShopUpdatedLogGroup: _, ...outputs } = operator.stack.outputs;
  const withoutOutput = await listed(operator.stack.with({ outputs }));
  expect(withoutOutput).toMatch(
    /\nshop\.updated +0 +1 +1 not identified: The stack has no output ShopUpdatedLogGroup: deploy .* again\n/,
  );
  const withoutGroup = await listed(
    operator.stack.with({ outputs: { ...outputs, ShopUpdatedLogGroup: 'none' } }),
  );
  expect(withoutGroup).toContain('The specified log group does not exist.');
});

test('what is in flight and has not failed is being processed', async () => {
  stack.faults.clear();
  stack.faults.inject({ service: 'dynamodb', kind: 'slow', milliseconds: 1_500 });
  const user = { event: 'user.updated', data: { user_id: 'user-1' }, timestamp: '2026-01-31T09:00:00Z' };
  await new Partner(stack.outputs.WebhookUrl).post(user);
  const text = await eventually(async () => {
    const lines = await listed(operator.stack);
    return lines.includes('being processed') ? lines : undefined;
  });
  expect(text).toMatch(/\nuser\.updated +0 +1 +1 being processed\n/);
  expect(text).not.toContain('All these queues are empty');
});

test('what is in flight after a crash of its consumer is said to be hidden', async () => {
  stack.faults.clear();
  const restore = await crashConsumer(stack, operator, 'girl.deleted', 100);
  const girl = { event: 'girl.deleted', data: { girl_id: 'girl-1' }, timestamp: '2026-01-31T09:00:00Z' };
  await new Partner(stack.outputs.WebhookUrl).post(girl);
  const text = await eventually(async () => {
    const lines = await listed(operator.stack);
    return lines.includes('hidden since') ? lines : undefined;
  });
  expect(text).toMatch(
    /\ngirl\.deleted +0 +1 +1 hidden since its consumer crashed \d+ s ago \(Runtime\.ExitError\), or being processed\n/,
  );
  await restore();
});
