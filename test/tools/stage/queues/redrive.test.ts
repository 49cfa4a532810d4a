import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { redriveAll } from '../../../../tools/stage/queues/redrive-all.ts';
import { redriveEach } from '../../../../tools/stage/queues/redrive-each.ts';
import { eventually } from '../../../support/eventually.ts';
import { Partner } from '../../../support/partner.ts';
import { type SharedStack, sharedStack } from '../../../support/shared-stack.ts';
import { Tables } from '../../../support/tables.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { DEAD, Operator, shopUpdated } from './support.ts';

describe('without consumers', () => {
  let aws: TestAws;
  let operator: Operator;
  let dead: string | undefined;
  let source: string | undefined;
  let unrouted: string | undefined;

  beforeAll(async () => {
    aws = await startTestAws();
    operator = await Operator.create(aws);
    dead = operator.outputs.ShopUpdatedDeadLetterQueueUrl;
    source = operator.outputs.ShopUpdatedQueueUrl;
    unrouted = operator.outputs.UnroutedQueueUrl;
  });
  afterAll(async () => {
    await operator.close();
    await aws.close();
  });
  beforeEach(() => operator.empty());

  const redriveShopUpdated = (operation = operator.operation()) =>
    redriveAll(operation, operator.queue('shop.updated'));

  describe('redrive of an event', () => {
    test('moves every dead letter to the queue of the event, also those that a consumer wrote', async () => {
      for (let count = 0; count < 12; count += 1) await operator.put(dead, shopUpdated('shop-1'), DEAD);
      const operation = operator.operation();
      expect(await redriveShopUpdated(operation)).toBe(true);
      expect([await operator.queues.count(dead), await operator.queues.count(source)]).toEqual([0, 12]);
      expect(operation.said.at(-1)).toBe('Moved 12 messages to the queue of shop.updated.');
    });

    test('of an empty queue is refused', async () => {
      await expect(redriveShopUpdated()).rejects.toThrow(
        'Nothing to redrive: the dead-letter queue of shop.updated is empty',
      );
    });

    test('of messages in flight is refused with the reason', async () => {
      await operator.hold(operator.outputs.UserUpdatedDeadLetterQueueUrl);
      await expect(redriveAll(operator.operation(), operator.queue('user.updated'))).rejects.toThrow(
        'Nothing to redrive: the dead-letter queue of user.updated has 1 message in flight',
      );
    });

    test('follows a running one', async () => {
      for (let count = 0; count < 3; count += 1) await operator.put(dead, shopUpdated('shop-1'), DEAD);
      const first = redriveAll(operator.operation(), operator.queue('shop.updated'), 2);
      const second = operator.operation();
      await eventually(async () => (await operator.queues.count(source)) || undefined);
      await redriveShopUpdated(second);
      await first;
      expect(second.said[0]).toBe(
        'A redrive of the dead-letter queue of shop.updated is already running. This command follows it.',
      );
      expect(await operator.queues.count(source)).toBe(3);
    });

    test('that is interrupted is cancelled, and every message is on one of the queues', async () => {
      for (let count = 0; count < 5; count += 1) await operator.put(dead, shopUpdated('shop-1'), DEAD);
      const interruption = new AbortController();
      const operation = operator.operation(interruption.signal);
      const redrive = redriveAll(operation, operator.queue('shop.updated'), 1);
      await eventually(async () => (await operator.queues.count(source)) || undefined);
      interruption.abort();
      expect(await redrive).toBe(false);
      expect(operation.said.at(-1)).toMatch(/^Cancelled\. Moved \d messages? .* Nothing is lost\.$/);
      const counts = [await operator.queues.count(dead), await operator.queues.count(source)];
      expect(counts[0]).toBeGreaterThan(0);
      expect((counts[0] as number) + (counts[1] as number)).toBe(5);
    });
  });

  describe('redrive of single messages', () => {
    test('moves them with their attributes, but without their failure', async () => {
      await operator.put(dead, shopUpdated('shop-1'), DEAD);
      const id = await operator.put(dead, shopUpdated('shop-2'), DEAD);
      const operation = operator.operation();
      expect(await redriveEach(operation, operator.queue('shop.updated'), [id])).toBe(true);
      expect(operation.said).toEqual(['    1 × moved to the queue of shop.updated']);
      expect(await operator.queues.count(dead)).toBe(1);
      const { failureReason: _reason, failedAt: _at, ...carried } = DEAD;
      const { Body, MessageAttributes = {} } = await operator.queues.take(source);
      expect({
        body: Body,
        attributes: Object.fromEntries(
          Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]),
        ),
      }).toEqual({ body: shopUpdated('shop-2'), attributes: carried });
    });

    test('moves all copies of a message, and not the dead letter of a replay', async () => {
      const replay = JSON.stringify({ name: 'repair-1', mode: 'repair' });
      const replayed = await operator.put(dead, shopUpdated('shop-1'), { ...DEAD, replay });
      const copies: string[] = [];
      for (const requestId of ['request-1', 'request-2']) {
        const failure = { failureReason: `failure of ${requestId}`, failedAt: new Date().toISOString() };
        const facts = { ...DEAD, ...failure, requestId };
        copies.push(await operator.put(dead, shopUpdated('shop-1'), facts));
      }
      const operation = operator.operation();
      expect(await redriveEach(operation, operator.queue('shop.updated'), [copies[0] ?? ''])).toBe(true);
      expect(operation.said).toEqual(['    1 × moved to the queue of shop.updated (2 copies)']);
      const moved = await operator.taken(source);
      const requests = moved.map(({ MessageAttributes }) => MessageAttributes?.requestId?.StringValue);
      expect(requests.toSorted()).toEqual(['request-1', 'request-2']);
      expect((await operator.taken(dead)).map(({ MessageId }) => MessageId)).toEqual([replayed]);
    });

    test('names a missing one, and moves the others', async () => {
      const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
      const operation = operator.operation();
      expect(await redriveEach(operation, operator.queue('shop.updated'), [id, 'no-such-id'])).toBe(false);
      expect(operation.said).toEqual([
        '    1 × moved to the queue of shop.updated',
        expect.stringContaining('Not on the dead-letter queue of shop.updated: no-such-id'),
      ]);
    });

    test('is refused if all are missing', async () => {
      await operator.put(dead, shopUpdated('shop-1'), DEAD);
      await expect(
        redriveEach(operator.operation(), operator.queue('shop.updated'), ['no-such-id']),
      ).rejects.toThrow('no-such-id');
      expect(await operator.queues.count(dead)).toBe(1);
    });

    test('keeps messages that cannot be sent', async () => {
      const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
      const outputs = { ...operator.outputs, ShopUpdatedQueueUrl: `${source}-that-is-gone` };
      const operation = { ...operator.operation(), stack: operator.stack.with({ outputs }) };
      expect(await redriveEach(operation, operator.queue('shop.updated'), [id])).toBe(false);
      expect(await operator.queues.count(dead)).toBe(1);
    });
  });

  describe('redrive of unrouted', () => {
    test('moves messages that have a consumer now, and counts the rest', async () => {
      await operator.put(unrouted, shopUpdated('shop-1'), { event: 'shop.updated' });
      await operator.put(unrouted, '{}', { event: 'example.unknown' });
      await operator.put(unrouted, '{}', { event: 'example.unknown' });
      // Its output would be that of shop.updated.
      await operator.put(unrouted, '{}', { event: 'shop_updated' });
      const operation = operator.operation();
      expect(await redriveEach(operation, operator.queue('unrouted'))).toBe(false);
      expect(operation.said.toSorted()).toEqual([
        '    1 × moved to the queue of shop.updated',
        "    1 × stays: event kind 'example.unknown' has no consumer (2 copies)",
        "    1 × stays: event kind 'shop_updated' has no consumer",
      ]);
      expect([await operator.queues.count(unrouted), await operator.queues.count(source)]).toEqual([3, 1]);
    });

    test('of an empty queue is refused', async () => {
      await expect(redriveEach(operator.operation(), operator.queue('unrouted'))).rejects.toThrow(
        'Nothing to redrive: the unrouted queue is empty',
      );
    });

    test('that is interrupted says that nothing is lost', async () => {
      await operator.put(unrouted, '{}', { event: 'shop.updated' });
      const operation = operator.operation(AbortSignal.abort());
      expect(await redriveEach(operation, operator.queue('unrouted'))).toBe(false);
      expect(operation.said).toEqual([expect.stringContaining('Nothing is lost')]);
      expect(await operator.queues.count(unrouted)).toBe(1);
    });
  });
});

describe('with consumers', () => {
  let stack: SharedStack;
  let operator: Operator;
  let tables: Tables;
  let partner: Partner;

  beforeAll(async () => {
    stack = await sharedStack();
    operator = await Operator.create(stack);
    tables = new Tables(stack.operator);
    partner = new Partner(stack.outputs.WebhookUrl);
  });
  afterAll(async () => {
    await operator.close();
  });
  beforeEach(() => operator.empty());

  const invalidated = (shop_id: string) =>
    eventually(() => tables.get(stack.outputs.ShopCacheTable, { shop_id }));
  const quarantined = (body: string) =>
    JSON.stringify({ problems: [], bodyBase64: Buffer.from(body).toString('base64') });
  const quarantine = () => stack.outputs.QuarantineQueueUrl;
  const redriveQuarantine = (operation = operator.operation(), ids?: readonly string[]) =>
    redriveEach(operation, operator.queue('quarantine'), ids);

  test('a redriven dead letter is processed, whatever failure its attributes name', async () => {
    const shopId = randomUUID();
    await operator.put(stack.outputs.ShopUpdatedDeadLetterQueueUrl, shopUpdated(shopId), DEAD);
    await redriveAll(operator.operation(), operator.queue('shop.updated'));
    expect(await invalidated(shopId)).toMatchObject({ invalidated_at: DEAD.receivedAt });
  });

  test('an unrouted event whose payload is in S3 is processed', async () => {
    const shopId = randomUUID();
    const Key = `unrouted/${shopId}`;
    const Bucket = operator.outputs.PayloadBucket;
    await operator.stack.s3.send(new PutObjectCommand({ Bucket, Key, Body: shopUpdated(shopId) }));
    const attributes = { ...DEAD, payloadKey: Key };
    await operator.put(stack.outputs.UnroutedQueueUrl, JSON.stringify({ payloadKey: Key }), attributes);
    expect(await redriveEach(operator.operation(), operator.queue('unrouted'))).toBe(true);
    await invalidated(shopId);
    const copy = { Bucket, Key: `shop.updated/${shopId}` };
    await operator.stack.s3.send(new HeadObjectCommand(copy));
  });

  describe('redrive of quarantine', () => {
    /** Answers like the receiver, but without a request id. */
    const anonymous = createServer((_request, response) => {
      response.statusCode = 400;
      response.end('{"type":"urn:partner-webhooks:problem:unusable-event"}');
    });
    const anonymousPort = () => (anonymous.address() as AddressInfo).port;
    beforeAll(async () => {
      await once(anonymous.listen(0, '127.0.0.1'), 'listening');
    });
    afterAll(() => {
      anonymous.close();
    });

    test('delivers usable messages, and removes them', async () => {
      const shopId = randomUUID();
      await operator.put(stack.outputs.QuarantineQueueUrl, quarantined(shopUpdated(shopId)), { reason: 'x' });
      const operation = operator.operation();
      expect(await redriveQuarantine(operation)).toBe(true);
      expect(operation.said).toEqual(['    1 × accepted by the receiver: queued']);
      await invalidated(shopId);
      expect(await operator.queues.count(stack.outputs.QuarantineQueueUrl)).toBe(0);
    });

    test.each([
      ['small', {}],
      ['in S3', { filler: 'x'.repeat(1_100_000) }],
    ])('quarantines unusable messages (%s) once more, byte for byte', async (_name, more) => {
      const body = JSON.stringify({ event: 'shop.updated', data: { shop_id: '' }, ...more });
      await partner.post(body);
      const operation = operator.operation();
      expect(await redriveQuarantine(operation)).toBe(false);
      expect(operation.said).toEqual([expect.stringContaining('1 × still unusable')]);
      expect(await operator.queues.count(stack.outputs.QuarantineQueueUrl)).toBe(1);
      expect(await redriveQuarantine()).toBe(false);
      expect(await operator.queues.count(stack.outputs.QuarantineQueueUrl)).toBe(1);
    });

    describe('with 14 copies of one delivery, and another', () => {
      const [unusable, other] = ['{"event":"shop.updated","data":{"shop_id":""}}', '{"event":'];

      /** @returns the message id of a copy */
      async function putCopies(bytes: string): Promise<string> {
        let id = '';
        for (let count = 0; count < 14; count += 1) {
          const eventId = sha256Hex(bytes);
          const facts = { event: 'unusable', eventId, requestId: randomUUID(), reason: `reason ${count}` };
          id = await operator.put(quarantine(), quarantined(bytes), facts);
        }
        await partner.post(other);
        return id;
      }

      const left = async () => {
        const messages = await operator.taken(quarantine());
        return messages.map(({ Body = '{}' }) =>
          Buffer.from(JSON.parse(Body).bodyBase64, 'base64').toString(),
        );
      };

      test('delivers the one, and removes its copies', async () => {
        const shopId = randomUUID();
        await putCopies(shopUpdated(shopId));
        const operation = operator.operation();
        expect(await redriveQuarantine(operation)).toBe(false);
        expect(operation.said.toSorted()).toEqual([
          expect.stringContaining('    1 × accepted by the receiver: queued (14 copies)'),
          expect.stringContaining('    1 × still unusable'),
        ]);
        await invalidated(shopId);
        expect(await left()).toEqual([other]);
      });

      test('keeps one message of those that are still unusable: the new one', async () => {
        await putCopies(unusable);
        const operation = operator.operation();
        expect(await redriveQuarantine(operation)).toBe(false);
        expect(operation.said).toEqual([expect.stringMatching(/^ {4}2 × still unusable.* \(15 copies\)$/)]);
        expect((await left()).toSorted()).toEqual([other, unusable].toSorted());
      });

      test.each(['message', 'event'])(
        'redrives all copies by the id of the %s, and nothing else',
        async (of) => {
          const messageId = await putCopies(unusable);
          const id = of === 'message' ? messageId : sha256Hex(unusable);
          expect(await redriveQuarantine(operator.operation(), [id])).toBe(false);
          expect((await left()).toSorted()).toEqual([other, unusable].toSorted());
        },
      );

      test('removes no copy if the one was not stored', async () => {
        await putCopies(shopUpdated(randomUUID()));
        const outputs = { ...operator.outputs, WebhookUrl: 'http://127.0.0.1:1/' };
        const operation = { ...operator.operation(), stack: operator.stack.with({ outputs }) };
        expect(await redriveQuarantine(operation)).toBe(false);
        expect(await left()).toHaveLength(15);
      });
    });

    test('does not remove other bytes under the same event id', async () => {
      const shopIds = [randomUUID(), randomUUID()];
      for (const shopId of shopIds) {
        await operator.put(quarantine(), quarantined(shopUpdated(shopId)), { eventId: DEAD.eventId });
      }
      expect(await redriveQuarantine()).toBe(true);
      for (const shopId of shopIds) await invalidated(shopId);
    });

    test.each([
      ['nothing answers', () => 'http://127.0.0.1:1/'],
      ['something other than the receiver refuses it', () => stack.awsUrl],
      ['the answer does not identify the new message', () => `http://127.0.0.1:${anonymousPort()}/`],
    ])('keeps everything if %s', async (_name, url) => {
      await operator.put(stack.outputs.QuarantineQueueUrl, quarantined(shopUpdated('shop-1')));
      const outputs = { ...operator.outputs, WebhookUrl: url() };
      const operation = { ...operator.operation(), stack: operator.stack.with({ outputs }) };
      expect(await redriveQuarantine(operation)).toBe(false);
      expect(await operator.queues.count(stack.outputs.QuarantineQueueUrl)).toBe(1);
    });
  });
});
