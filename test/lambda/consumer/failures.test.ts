import { createHash } from 'node:crypto';
import {
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { Faults } from '../../../local/aws/faults.ts';
import type { FunctionDefinition } from '../../../local/functions/function-definition.ts';
import { LocalFunction } from '../../../local/functions/local-function.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import { eventually } from '../../support/eventually.ts';
import { Partner } from '../../support/partner.ts';
import { Queues } from '../../support/queues.ts';
import { Tables } from '../../support/tables.ts';
import { startTestStack } from '../../support/test-stack.ts';

let stack: LocalStack | undefined;
afterEach(() => stack?.close());

const timestamp = '2026-01-31T09:00:00Z';
const shopUpdated = (shop_id: string) => ({ event: 'shop.updated', data: { shop_id }, timestamp });

/** The structured log lines of the consumers, as they are written. */
async function startLogged(environment: Record<string, string> = {}, faults = new Faults()) {
  const lines: Record<string, unknown>[] = [];
  stack = await startTestStack({
    environment,
    faults,
    onLog: ({ text }) => {
      if (text.startsWith('{')) lines.push(JSON.parse(text));
    },
  });
  const logged = (message: string) =>
    eventually(async () => lines.find((line) => line.message === message && line.level !== undefined));
  return { stack, lines, logged, queues: new Queues(stack.operator), tables: new Tables(stack.operator) };
}

describe('a failure that cannot pass', () => {
  test('goes to the dead-letter queue at once with its reason, and the rest of its batch succeeds', async () => {
    const { stack, queues, tables } = await startLogged();
    const { ShopUpdatedQueueUrl: queue, ShopUpdatedDeadLetterQueueUrl: deadLetters } = stack.outputs;
    for (const body of ['not JSON', JSON.stringify(shopUpdated('good'))]) {
      await queues.client.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: body }));
    }
    const { Body, MessageAttributes } = await queues.take(deadLetters);
    expect(Body).toBe('not JSON');
    expect(MessageAttributes).toMatchObject({
      failureReason: { StringValue: 'UnprocessableMessageError: Not a usable event: body must be JSON' },
      failedAt: { StringValue: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    await eventually(() => tables.get(stack.outputs.ShopCacheTable, { shop_id: 'good' }));
    await eventually(async () => ((await queues.count(queue)) === 0 ? true : undefined));
  });

  test('of a delivery keeps what the receiver noted of it', async () => {
    const { stack, queues } = await startLogged();
    const display_name = 'x'.repeat(500_000);
    const { body } = await new Partner(stack.outputs.WebhookUrl).post({
      event: 'user.updated',
      data: { user_id: 'u', display_name },
      timestamp,
    });
    const { Body, MessageAttributes } = await queues.take(stack.outputs.UserUpdatedDeadLetterQueueUrl);
    expect(JSON.parse(Body ?? '').data.display_name).toBe(display_name);
    expect(MessageAttributes).toMatchObject({
      eventId: { StringValue: body.eventId },
      requestId: { StringValue: body.requestId },
      failureReason: { StringValue: expect.stringContaining('ValidationException') },
    });
  });
});

describe('a failure that may pass', () => {
  test('waits some 30 s, on its queue, and is logged with the wait', async () => {
    const { stack, logged, queues } = await startLogged({ SHOP_CACHE_TABLE: 'not-there-yet' });
    await new Partner(stack.outputs.WebhookUrl).post(shopUpdated('waiting'));
    const line = await logged('Failed');
    expect(line).toMatchObject({ level: 'WARN', attempt: 1, event: 'shop.updated' });
    expect(line.retryInSeconds).toBeGreaterThanOrEqual(22);
    expect(line.retryInSeconds).toBeLessThanOrEqual(38);
    expect(await queues.count(stack.outputs.ShopUpdatedQueueUrl)).toBe(1);
    expect(await queues.count(stack.outputs.ShopUpdatedDeadLetterQueueUrl)).toBe(0);
  });

  test('is tried again until the last receive, then goes to the dead-letter queue with its reason', async () => {
    const { stack, lines, queues } = await startLogged({
      SHOP_CACHE_TABLE: 'never-there',
      FIRST_RETRY_DELAY_SECONDS: '0',
      MAXIMUM_RECEIVES: '4',
    });
    await new Partner(stack.outputs.WebhookUrl).post(shopUpdated('poison'));
    const { MessageAttributes } = await queues.take(stack.outputs.ShopUpdatedDeadLetterQueueUrl);
    expect(MessageAttributes?.failureReason?.StringValue).toMatch(
      /^DynamoDB UpdateItem: \w*(NotFound|AccessDenied)\w*: /,
    );
    expect(lines.filter(({ message }) => message === 'Failed').map(({ attempt }) => attempt)).toEqual([
      1, 2, 3,
    ]);
    await eventually(async () =>
      (await queues.count(stack.outputs.ShopUpdatedQueueUrl)) === 0 ? true : undefined,
    );
  });
});

test('SQS itself moves a message that a consumer never gets to bury', async () => {
  const { stack, queues } = await startLogged({
    SHOP_CACHE_TABLE: 'never-there',
    FIRST_RETRY_DELAY_SECONDS: '0',
  });
  const { ShopUpdatedQueueUrl: QueueUrl, ShopUpdatedDeadLetterQueueUrl: deadLetters } = stack.outputs;
  const { Attributes } = await queues.client.send(
    new GetQueueAttributesCommand({ QueueUrl: deadLetters, AttributeNames: ['QueueArn'] }),
  );
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: Attributes?.QueueArn, maxReceiveCount: 2 });
  await queues.client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { RedrivePolicy } }));
  await new Partner(stack.outputs.WebhookUrl).post(shopUpdated('poison'));
  const { Body, MessageAttributes } = await queues.take(deadLetters);
  expect(JSON.parse(Body ?? '')).toEqual(shopUpdated('poison'));
  expect(MessageAttributes).not.toHaveProperty('failureReason');
});

describe('the log of a failure', () => {
  test('has the event’s id and the error’s text, also of a message that is no event', async () => {
    const { stack, lines, logged, queues } = await startLogged();
    await queues.client.send(
      new SendMessageCommand({ QueueUrl: stack.outputs.ShopUpdatedQueueUrl, MessageBody: 'not JSON' }),
    );
    expect(await logged('DeadLettered')).toMatchObject({
      eventId: createHash('sha256').update('not JSON').digest('hex'),
      error: 'UnprocessableMessageError',
      errorMessage: 'Not a usable event: body must be JSON',
    });
    expect(JSON.stringify(lines)).not.toContain('reserved key');
  });

  test('says that a message could not be put on the dead-letter queue, and the message stays', async () => {
    const { stack, logged, queues } = await startLogged();
    const { ShopUpdatedQueueUrl, ShopUpdatedDeadLetterQueueUrl } = stack.outputs;
    await queues.client.send(new DeleteQueueCommand({ QueueUrl: ShopUpdatedDeadLetterQueueUrl }));
    await queues.client.send(
      new SendMessageCommand({ QueueUrl: ShopUpdatedQueueUrl, MessageBody: 'not JSON' }),
    );
    expect(await logged('BuryFailed')).toMatchObject({ level: 'ERROR', error: 'QueueDoesNotExist' });
    expect(await queues.count(ShopUpdatedQueueUrl)).toBe(1);
  });
});

describe('a dependency that hangs', () => {
  test('fails the record after the client’s time-outs, not the function', async () => {
    const faults = new Faults();
    faults.inject({ service: 'dynamodb', kind: 'slow', milliseconds: 60_000 });
    const { stack, logged } = await startLogged({}, faults);
    await new Partner(stack.outputs.WebhookUrl).post(shopUpdated('hung'));
    expect(await logged('Failed')).toMatchObject({
      call: 'DynamoDB UpdateItem',
      error: 'no answer in time',
      event: 'shop.updated',
    });
  });

  test('is named, also if its client is loaded on demand', async () => {
    const faults = new Faults();
    faults.inject({ service: 's3', kind: 'down' });
    const { stack, logged } = await startLogged({}, faults);
    const sample = sqsEvent({ event: 'shop.updated', name: 'shop-updated', payload: shopUpdated('large') });
    const payloadKey = { dataType: 'String', stringValue: 'shop.updated/large' } as const;
    for (const { messageAttributes } of sample.Records) messageAttributes.payloadKey = payloadKey;
    await stack.functions.get('shop-updated')?.function.invoke(sample);
    expect(await logged('Failed')).toMatchObject({ call: 'S3 GetObject', error: 'connection closed' });
  });

  test('does not keep a function that runs out of time from reporting what it has not finished', async () => {
    const faults = new Faults();
    faults.inject({ service: 'dynamodb', kind: 'slow', milliseconds: 1_500 });
    const { stack } = await startLogged({}, faults);
    const { definition } = stack.functions.get('shop-updated') ?? {};
    // The function as it is, with less time than its work takes.
    const hurried = new LocalFunction({ ...definition, timeoutSeconds: 3 } as FunctionDefinition, () => {});
    const sample = sqsEvent({ event: 'shop.updated', name: 'shop-updated', payload: shopUpdated('hurried') });
    try {
      await hurried.warmUp();
      expect(await hurried.invoke(sample)).toMatchObject({
        ok: true,
        payload: { batchItemFailures: [{ itemIdentifier: sample.Records[0]?.messageId }] },
      });
    } finally {
      await hurried.close();
    }
  });
});

describe('a notification', () => {
  test('is sent once, however often its delivery is repeated', async () => {
    // One that comes while the first is under way fails, and is tried again.
    const { stack, lines, queues } = await startLogged({ FIRST_RETRY_DELAY_SECONDS: '1' });
    const room = await queues.subscribe(stack.outputs.ChatTopicArn, 'chat-room');
    const partner = new Partner(stack.outputs.WebhookUrl);
    const event = { event: 'girl.schedule_changed', data: { shop_id: 's' }, timestamp };
    for (let delivery = 0; delivery < 3; delivery += 1) expect((await partner.post(event)).status).toBe(200);
    const outcomes = await eventually(async () => {
      const done = lines.filter(({ message }) => message === 'Processed' || message === 'Duplicate');
      return done.length === 3 ? done.map(({ message }) => message) : undefined;
    });
    expect(outcomes.toSorted()).toEqual(['Duplicate', 'Duplicate', 'Processed']);
    expect(await queues.count(room)).toBe(1);
  });

  test('of which SNS’ answer was lost is said to be possibly repeated', async () => {
    const faults = new Faults();
    faults.inject({ service: 'sns', kind: 'response-lost', every: 2 });
    const { stack, lines, queues } = await startLogged({}, faults);
    const room = await queues.subscribe(stack.outputs.ReviewTopicArn, 'room');
    const partner = new Partner(stack.outputs.WebhookUrl);
    for (const review_id of ['r-1', 'r-2']) {
      await partner.post({ event: 'review.posted', data: { review_id }, timestamp });
      await eventually(async () =>
        lines.filter(({ message }) => message === 'Processed').length === Number(review_id.slice(2))
          ? true
          : undefined,
      );
    }
    expect(lines.filter(({ message }) => message === 'PossiblyRepeated')).toHaveLength(1);
    expect(await queues.count(room)).toBe(3);
  });
});
