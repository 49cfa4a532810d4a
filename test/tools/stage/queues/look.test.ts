import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { DeleteQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventNames } from '../../../../lambda/events/catalogue.ts';
import { Faults } from '../../../../local/aws/faults.ts';
import { list } from '../../../../tools/stage/queues/dlq-list.ts';
import { exportMessages, show } from '../../../../tools/stage/queues/dlq-show.ts';
import { findQueue } from '../../../../tools/stage/queues/queue.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { DEAD, Operator, shopUpdated } from './support.ts';

const PayloadBucket = 'payloads';

const faults = new Faults();
let aws: TestAws;
let operator: Operator;
let dead: string | undefined;
let quarantine: string | undefined;
let unrouted: string | undefined;

beforeAll(async () => {
  aws = await startTestAws(faults);
  operator = await Operator.create({ ...aws, outputs: { ...aws.outputs, PayloadBucket } });
  await operator.stack.s3.send(new CreateBucketCommand({ Bucket: PayloadBucket }));
  dead = operator.outputs.ShopUpdatedDeadLetterQueueUrl;
  quarantine = operator.outputs.QuarantineQueueUrl;
  unrouted = operator.outputs.UnroutedQueueUrl;
});
afterAll(async () => {
  await operator.close();
  await aws.close();
});
beforeEach(() => operator.empty());

const quarantined = (bytes: Uint8Array) =>
  JSON.stringify({ problems: [], bodyBase64: Buffer.from(bytes).toString('base64') });

async function shown(name: string, options: Partial<Parameters<typeof show>[2]> = {}): Promise<string> {
  const operation = operator.operation();
  const queue = await findQueue(operator.stack, name);
  await show(operation, queue, { limit: 20, payload: false, json: false, ...options });
  return operation.said.join('\n');
}

describe('list', () => {
  const listed = async () => {
    const operation = operator.operation();
    await list(operation, { json: false });
    return operation.said.join('\n').replaceAll(/ +/g, ' ');
  };

  test('counts what waits on every queue that nothing consumes, and says what to do next', async () => {
    await operator.put(dead, shopUpdated('shop-1'), DEAD);
    await operator.put(dead, shopUpdated('shop-2'), DEAD);
    await operator.put(unrouted, '{}', { event: 'example.unknown' });
    expect((await listed()).split('\n')).toEqual([
      expect.stringMatching(/^Messages in /),
      '',
      'Dead letters, quarantine and unrouted events: they wait until you redrive them.',
      '',
      'QUEUE WAITING IN FLIGHT OLDEST',
      ...eventNames.map((event) =>
        event === 'shop.updated' ? expect.stringMatching(/^shop\.updated 2 0 \d+ s$/) : `${event} 0 0 –`,
      ),
      'quarantine 0 0 –',
      expect.stringMatching(/^unrouted 1 0 \d+ s$/),
      '',
      'Event queues: empty.',
      '',
      `See why: npm run dlq -- show shop.updated --outputs ${operator.outputsFile}`,
    ]);
  });

  test('says that all queues are empty only if they are', async () => {
    expect(await listed()).toMatch(/\nEvent queues: empty\.\n\nAll these queues are empty\.$/);
  });

  test('shows an event queue whose messages wait for their consumer', async () => {
    await operator.put(operator.outputs.ShopUpdatedQueueUrl, shopUpdated('shop-1'));
    const text = await listed();
    expect(text).toContain('\nEVENT WAITING IN FLIGHT STATE\nshop.updated 1 0 waiting\n');
    expect(text).not.toContain('empty');
    expect(text).toMatch(/\nNothing needs you yet\..* see docs\/operations\.md, "Waiting"\.$/);
  });

  test('counts a delayed message as waiting, on either kind of queue', async () => {
    for (const name of ['GirlDeletedQueueUrl', 'GirlDeletedDeadLetterQueueUrl']) {
      const QueueUrl = operator.outputs[name];
      const command = new SendMessageCommand({ QueueUrl, MessageBody: '{}', DelaySeconds: 900 });
      await operator.queues.client.send(command);
    }
    const text = await listed();
    expect(text).toContain('\ngirl.deleted 1 0 unknown\n');
    expect(text).toContain('\ngirl.deleted 1 0 waiting\n');
    expect(await shown('girl.deleted')).toBe(
      'Nothing to show: SQS delays all messages of the dead-letter queue of girl.deleted (1), for 15 minutes at most',
    );
  });

  test('shows a dead letter that somebody holds, and how to see why', async () => {
    await operator.hold(operator.outputs.GirlCreatedDeadLetterQueueUrl);
    const text = await listed();
    expect(text).toContain('\ngirl.created 0 1 unknown\n');
    expect(text).toMatch(/\nSee why: npm run dlq -- show girl\./);
  });

  describe('of the queues that a removed event has left', () => {
    const [Queue, DeadLetterQueue] = ['ShopClosedQueue0A1B2C3D', 'ShopClosedDeadLetterQueue4E5F6A7B-X9Y8Z7'];
    const left: string[] = [];
    beforeAll(async () => {
      left.push(await operator.leaveQueue(Queue), await operator.leaveQueue(DeadLetterQueue));
      // Of a stage whose name begins like ours.
      left.push(await operator.leaveQueue(`eu-${DeadLetterQueue}`));
    });
    afterAll(async () => {
      for (const QueueUrl of left) await operator.queues.client.send(new DeleteQueueCommand({ QueueUrl }));
    });

    test('shows each with what is on it, and none of another stage', async () => {
      await operator.put(left[1], '{}', DEAD);
      const [, lines = ''] = (await listed()).split('Left by removed events');
      expect(lines).toContain(`\n${Queue} 0 0 –\n`);
      expect(lines).toMatch(new RegExp(`\n${DeadLetterQueue} 1 0 \\d+ s\n`));
      expect(lines).not.toContain('eu-');
      expect(lines).toContain(`See why: npm run dlq -- show `);
    });

    test('says so if they cannot be listed', async () => {
      const end = faults.inject({
        service: 'sqs',
        operation: 'ListQueues',
        kind: 'throttled',
        callers: 'everyone',
      });
      const text = await listed();
      end();
      expect(text).toContain('\nWhich queues removed events have left is unknown: RequestThrottled');
    });

    test('shows the messages of one, and why they are there', async () => {
      await operator.put(left[0], shopUpdated('shop-1'));
      await operator.put(left[1], shopUpdated('shop-1'), DEAD);
      expect(await shown(Queue)).toContain('it waited when its consumer was removed');
      const text = await shown(DeadLetterQueue);
      expect(text).toContain(DEAD.failureReason);
      expect(text).toContain(`Nothing consumes them. Keep a copy: npm run dlq -- export ${DeadLetterQueue}`);
    });
  });
});

describe('show', () => {
  test('tells why a dead letter is there and how to find its traces, and not what the partner sent', async () => {
    const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const text = await shown('shop.updated');
    for (const fact of [
      id,
      DEAD.failureReason,
      DEAD.failedAt,
      DEAD.receivedAt,
      DEAD.eventId,
      DEAD.requestId,
    ]) {
      expect(text).toContain(fact);
    }
    expect(text).not.toContain('Personal name');
  });

  test('sums up the reasons, most frequent first', async () => {
    await operator.put(dead, shopUpdated('shop-1'), { ...DEAD, failureReason: 'rare' });
    for (let count = 0; count < 2; count += 1) await operator.put(dead, shopUpdated('shop-1'), DEAD);
    expect(await shown('shop.updated')).toContain(`    2 × ${DEAD.failureReason}\n    1 × rare\n`);
  });

  test('with --json gives all of it to programs, and what the partner sent if it is asked for', async () => {
    const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const { failureReason, ...noted } = DEAD;
    const message = {
      messageId: id,
      reason: failureReason,
      ...noted,
      sentAt: expect.any(String),
      keptUntil: expect.any(String),
      receives: expect.any(Number),
    };
    const expected = { stack: operator.stack.title, queue: 'shop.updated', more: false, inFlight: 0 };
    expect(JSON.parse(await shown('shop.updated', { json: true }))).toEqual({
      ...expected,
      messages: [message],
    });
    const withPayload = [{ ...message, body: shopUpdated('shop-1') }];
    expect(JSON.parse(await shown('shop.updated', { json: true, payload: true }))).toEqual({
      ...expected,
      messages: withPayload,
    });
    expect(JSON.parse(await shown('quarantine', { json: true })).messages).toEqual([]);
  });

  test('shows what quarantine wraps, such that it cannot command the terminal', async () => {
    await operator.put(quarantine, quarantined(Buffer.from('{"\u001b[2J')), { reason: 'body must be JSON' });
    const text = await shown('quarantine', { payload: true });
    expect(text).toContain('body must be JSON');
    expect(text).toContain('{"\\u001b[2J');
  });

  test.each([
    ['example.unknown', "event kind 'example.unknown' had no consumer", false],
    ['user.updated', 'has a consumer now', true],
  ])('says of an unrouted %s: %s', async (event, fact, routable) => {
    await operator.put(unrouted, '{}', { event });
    const text = await shown('unrouted');
    expect(text).toContain(fact);
    expect(text.includes('has a consumer now')).toBe(routable);
  });

  test('says when there are more', async () => {
    for (let count = 0; count < 3; count += 1) await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const text = await shown('shop.updated', { limit: 2 });
    expect(text).toContain('2 messages of about 3 on the dead-letter queue of shop.updated');
    expect(text).toContain('There may be more. To see up to 20: --limit 20');
  });

  test('tells an empty queue from one whose messages somebody holds', async () => {
    expect(await shown('shop.updated')).toBe(
      'Nothing to show: the dead-letter queue of shop.updated is empty',
    );
    await operator.hold(operator.outputs.UserUpdatedDeadLetterQueueUrl);
    expect(await shown('user.updated')).toContain('has 1 message in flight');
  });
});

describe('export', () => {
  async function exported(name: string) {
    const operation = operator.operation();
    const lines: string[] = [];
    const complete = await exportMessages(operation, operator.queue(name), async (line) => {
      lines.push(line);
    });
    return { complete, said: operation.said, lines: lines.map((line) => JSON.parse(line)) };
  }

  test('writes each message with its attributes and what the partner sent, and removes nothing', async () => {
    const messageId = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    const sentAt = expect.stringMatching(/^\d{4}-.*Z$/);
    const expected = {
      queue: 'shop.updated',
      messageId,
      sentAt,
      attributes: DEAD,
      body: shopUpdated('shop-1'),
    };
    expect(await exported('shop.updated')).toMatchObject({ complete: true, lines: [expected] });
    expect((await exported('shop.updated')).lines).toEqual([expected]);
  });

  test.each([
    ['text as text', Buffer.from('{"event":'), { body: '{"event":' }],
    ['other bytes as base64', Buffer.from([0xff, 0xfe]), { bodyBase64: '//4=' }],
  ])('writes what quarantine wraps: %s', async (_name, bytes, expected) => {
    await operator.put(quarantine, quarantined(bytes), { reason: 'x' });
    expect((await exported('quarantine')).lines).toEqual([expect.objectContaining(expected)]);
  });

  test('fetches a payload that was too large for a message', async () => {
    const Key = 'shop.updated/large';
    await operator.stack.s3.send(new PutObjectCommand({ Bucket: PayloadBucket, Key, Body: 'large' }));
    await operator.put(dead, JSON.stringify({ payloadKey: Key }), { ...DEAD, payloadKey: Key });
    expect((await exported('shop.updated')).lines).toMatchObject([{ body: 'large' }]);
  });

  test('says which payload is gone', async () => {
    await operator.put(dead, '{}', { ...DEAD, payloadKey: 'shop.updated/gone' });
    const { complete, lines } = await exported('shop.updated');
    expect(complete).toBe(false);
    expect(lines).toMatchObject([{ unreadable: 'S3 no longer has it under shop.updated/gone' }]);
  });

  test('says that there is nothing', async () => {
    expect(await exported('quarantine')).toEqual({
      complete: true,
      said: ['Nothing to export: the quarantine queue is empty'],
      lines: [],
    });
  });
});
