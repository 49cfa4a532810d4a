import { readFileSync } from 'node:fs';
import { DeleteTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { DeleteTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { LocalFunction } from 'local-aws/functions';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { Partner } from '../support/partner.ts';
import { startTestStack } from '../support/test-stack.ts';
import { FunctionLines } from './function-lines.ts';

const lines = new FunctionLines();
let stack: LocalStack;

/**
 * Position of a text in our sources, in the form of a logged frame.
 * @param text occurs there once
 */
function frameOf(file: string, text: string): string {
  const before = readFileSync(file, 'utf8').split(text);
  if (before.length !== 2) throw new Error(`${file} has ${text} ${before.length - 1} times`);
  return `${file}:${before[0]?.split('\n').length}`;
}

const takesEffect = frameOf('lambda/consumer/consume.ts', 'await process(');

function invoke(service: string, event: unknown) {
  return stack.functions.get(service)?.function.invoke(event);
}

const sample = (event: EventName) => JSON.parse(readFileSync(`events/sqs/${kebabCase(event)}.json`, 'utf8'));

beforeAll(async () => {
  stack = await startTestStack({ onLog: lines.add, onProblem: () => {} });
  const tables = new DynamoDBClient(stack.operator);
  const { TableNames = [] } = await tables.send(new ListTablesCommand({}));
  const targets = TableNames.filter((name) => !name.includes('Idempotency'));
  for (const TableName of targets) await tables.send(new DeleteTableCommand({ TableName }));
  await new SNSClient(stack.operator).send(
    new DeleteTopicCommand({ TopicArn: stack.outputs.ReviewTopicArn }),
  );
  stack.faults.inject({ service: 'sqs', operation: 'SendMessage', kind: 'throttled' });
});
afterAll(() => stack.close());

test.each([
  {
    event: 'girl.created' as const,
    places: [
      frameOf('lambda/effects/cast.ts', 'await versionedWrite('),
      frameOf(
        'lambda/effects/cast.ts',
        "await this.#put(girlId, shopId, change, {\n      status: { S: 'active'",
      ),
    ],
  },
  {
    event: 'shop.updated' as const,
    places: [
      frameOf('lambda/effects/shop-cache.ts', 'await versionedWrite('),
      frameOf('lambda/effects/shop-cache.ts', 'await shopCache.invalidate('),
    ],
  },
  {
    event: 'user.updated' as const,
    places: [
      frameOf('lambda/effects/contact-partner.ts', 'await versionedWrite('),
      frameOf('lambda/effects/contact-partner.ts', 'await this.#write(update, expression'),
      frameOf(
        'lambda/effects/contact-partner.ts',
        'await this.#writeRecord(update, fields, mayWrite(update))',
      ),
    ],
  },
])('the stack of a failed $event leads from the failed call to the consumer', async ({ event, places }) => {
  lines.logged.length = 0;
  await invoke(kebabCase(event), sample(event));
  const [failed] = lines.of(kebabCase(event), 'Failed');
  const write = frameOf('lambda/effects/event-order.ts', 'await write()');
  expect(ourFrames(failed?.stack).slice(0, 2 + places.length)).toEqual([write, ...places, takesEffect]);
});

const ourFrames = (stack: unknown) => (stack as string[]).filter((frame) => frame.startsWith('lambda/'));

test('the stack of a failed notification leads from the failed call to the consumer', async () => {
  await invoke('review-posted', sample('review.posted'));
  const [failed] = lines.of('review-posted', 'Failed');
  expect(failed).toMatchObject({ call: 'SNS Publish' });
  expect(ourFrames(failed?.stack)).toEqual(
    expect.arrayContaining([
      frameOf('lambda/effects/notifications.ts', 'await client.send('),
      frameOf('lambda/effects/idempotency.ts', 'await effect();'),
      frameOf('lambda/effects/idempotency.ts', 'await records.once(recordId(name, input'),
      takesEffect,
    ]),
  );
});

test.each([
  { call: 'DynamoDB GetItem', service: 'dynamodb' as const, attributes: {} },
  // The client of S3 is loaded on demand.
  {
    call: 'S3 GetObject',
    service: 's3' as const,
    attributes: { payloadKey: { dataType: 'String', stringValue: 'shop.updated/large' } },
  },
])('a call whose connection ends is named: $call', async (given) => {
  lines.logged.length = 0;
  const heal = stack.faults.inject({ service: given.service, kind: 'down' });
  const event = sample('shop.updated');
  Object.assign(event.Records[0].messageAttributes, given.attributes);
  await invoke('shop-updated', event);
  heal();
  expect(lines.of('shop-updated', 'Failed')).toEqual([
    expect.objectContaining({ call: given.call, error: 'connection closed' }),
  ]);
});

test("the stack of a delivery that was not accepted leads to the receiver's code", async () => {
  const call = 'await this.#client.send(\n      new SendMessageCommand({\n';
  const sends = `${call}        QueueUrl: this.#unlessProbe(delivery, queueUrl)`;
  const payload = { event: 'shop.updated', data: { shop_id: 's' }, timestamp: '2026-01-31T09:00:00Z' };
  await new Partner(stack.outputs.WebhookUrl).post(payload);
  const [failed] = lines.of('receiver', 'ServerError');
  expect(ourFrames(failed?.stack)).toEqual([
    frameOf('lambda/receiver/event-queues.ts', sends),
    frameOf('lambda/receiver/receive.ts', 'await queues.enqueue('),
    frameOf('lambda/receiver/receive.ts', 'await receive(event)'),
  ]);
});

test('an uncaught error of a handler is reported with places in our sources', async () => {
  expect(await invoke('receiver', 'no request')).toMatchObject({
    ok: false,
    trace: expect.arrayContaining([
      `    at ${frameOf('lambda/receiver/request.ts', "'multiValueHeaders' in event")}`,
    ]),
  });
});

test('so is an error of a bundle that does not load', async () => {
  const { definition } = stack.functions.get('girl-created') ?? {};
  if (definition === undefined) throw new Error('No function girl-created');
  const { CAST_TABLE, ...environment } = definition.environment;
  const consumer = new LocalFunction({ ...definition, environment }, () => {});
  try {
    expect(await consumer.invoke({})).toMatchObject({
      errorMessage: expect.stringContaining('CAST_TABLE'),
      trace: expect.arrayContaining([
        `    at ${frameOf('lambda/effects/cast.ts', "requireEnvironment(['CAST_TABLE'])")}`,
        `    at ${frameOf('lambda/events/girl-created/consumer.ts', 'new Cast()')}`,
      ]),
    });
  } finally {
    await consumer.close();
  }
});
