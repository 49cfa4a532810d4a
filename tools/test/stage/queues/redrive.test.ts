import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { Partner } from '../../../../test/support/partner.ts';
import { type SharedStack, sharedStack } from '../../../../test/support/shared-stack.ts';
import { Tables } from '../../../../test/support/tables.ts';
import { redriveAll } from '../../../stage/queues/redrive-all.ts';
import { redriveEach } from '../../../stage/queues/redrive-each.ts';
import { DEAD, Operator, refusalOf, shopUpdated, startedOperator } from './support.ts';

/** Redrives single messages, and returns the printed text. */
async function redriven(
  operator: Operator,
  name: string,
  { ids, outputs, signal }: { ids?: readonly string[]; outputs?: object; signal?: AbortSignal } = {},
) {
  const stack = operator.stack.with({ outputs: { ...operator.outputs, ...outputs } });
  const operation = { ...operator.operation(signal), stack };
  const done = await redriveEach(operation, operator.queue(name), ids);
  return { done, said: operation.said };
}

describe('without consumers', () => {
  const started = startedOperator();
  let operator: Operator;
  let dead: string | undefined;
  let source: string | undefined;
  let unrouted: string | undefined;

  beforeAll(() => {
    operator = started.operator;
    dead = operator.outputs.ShopUpdatedDeadLetterQueueUrl;
    source = operator.outputs.ShopUpdatedQueueUrl;
    unrouted = operator.outputs.UnroutedQueueUrl;
  });
  beforeEach(() => operator.empty());

  const counts = () => Promise.all([dead, source].map((url) => operator.queues.count(url)));
  const putDead = async (count: number) => {
    for (let number = 0; number < count; number += 1) await operator.put(dead, shopUpdated('shop-1'), DEAD);
  };
  const redriveShopUpdated = (operation = operator.operation(), rate?: number) =>
    redriveAll(operation, operator.queue('shop.updated'), rate);

  test('a redrive of nothing is refused with the reason', async () => {
    const nothing = 'Nothing to redrive: the';
    await expect(redriveShopUpdated()).rejects.toThrow(
      `${nothing} dead-letter queue of shop.updated is empty`,
    );
    await expect(redriven(operator, 'unrouted')).rejects.toThrow(`${nothing} unrouted queue is empty`);
    const release = await operator.receiveNew(dead);
    await expect(redriveShopUpdated()).rejects.toThrow(
      `${nothing} dead-letter queue of shop.updated has 1 message in flight`,
    );
    await release();
  });

  describe('redrive of an event', () => {
    test('moves every dead letter to the queue of the event, also those that a consumer wrote', async () => {
      await putDead(12);
      const operation = operator.operation();
      expect(await redriveShopUpdated(operation)).toBe(true);
      expect(await counts()).toEqual([0, 12]);
      expect(operation.said.at(-1)).toBe('Moved 12 messages to the queue of shop.updated.');
      expect(operation.reported).toMatchObject([{ queue: 'shop.updated', moved: 12, isEmpty: true }]);
    });

    test('follows a running one', async () => {
      await putDead(3);
      const first = redriveShopUpdated(operator.operation(), 2);
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
      await putDead(5);
      const interruption = new AbortController();
      const operation = operator.operation(interruption.signal);
      const redrive = redriveShopUpdated(operation, 1);
      await eventually(async () => (await operator.queues.count(source)) || undefined);
      interruption.abort();
      expect(await redrive).toBe(false);
      expect(operation.said.at(-1)).toMatch(/^Cancelled\. Moved \d messages? .* Nothing is lost\.$/);
      const [left = 0, moved = 0] = await counts();
      expect(left).toBeGreaterThan(0);
      expect(left + moved).toBe(5);
    });
  });

  describe('redrive of single messages', () => {
    test('moves them with their attributes, but without their failure', async () => {
      await putDead(1);
      const id = await operator.put(dead, shopUpdated('shop-2'), DEAD);
      expect(await redriven(operator, 'shop.updated', { ids: [id.slice(0, 8)] })).toEqual({
        done: true,
        said: ['    1 × moved to the queue of shop.updated'],
      });
      expect(await operator.queues.count(dead)).toBe(1);
      const { failureReason: _reason, failedAt: _at, ...carried } = DEAD;
      const { Body, MessageAttributes = {} } = await operator.queues.take(source);
      const attributes = Object.entries(MessageAttributes).map(([name, { StringValue }]) => [
        name,
        StringValue,
      ]);
      expect(Body).toBe(shopUpdated('shop-2'));
      expect(Object.fromEntries(attributes)).toEqual(carried);
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
      expect(await redriven(operator, 'shop.updated', { ids: copies.slice(0, 1) })).toEqual({
        done: true,
        said: ['    1 × moved to the queue of shop.updated (2 copies)'],
      });
      const moved = await operator.queues.takeAll(source);
      const requests = moved.map(({ MessageAttributes }) => MessageAttributes?.requestId?.StringValue);
      expect(requests.toSorted()).toEqual(['request-1', 'request-2']);
      expect((await operator.queues.takeAll(dead)).map(({ MessageId }) => MessageId)).toEqual([replayed]);
    });

    test('names a missing one, and moves the others; if all are missing, it is refused', async () => {
      const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
      await expect(redriven(operator, 'shop.updated', { ids: ['no-such-id'] })).rejects.toThrow('no-such-id');
      expect(await redriven(operator, 'shop.updated', { ids: [id, 'no-such-id'] })).toEqual({
        done: false,
        said: [
          '    1 × moved to the queue of shop.updated',
          expect.stringContaining('Not on the dead-letter queue of shop.updated: no-such-id'),
        ],
      });
    });

    test('reports each message as data', async () => {
      const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
      const { reported, ...operation } = operator.operation();
      await redriveEach(operation, operator.queue('shop.updated'), [id, 'no-such-id']);
      expect(reported).toMatchObject([
        {
          queue: 'shop.updated',
          outcomes: [{ id, what: 'moved to the queue of shop.updated', redriven: true }],
          missing: ['no-such-id'],
          interrupted: false,
        },
      ]);
    });

    test('refuses an id that is the beginning of several', async () => {
      const requests = ['request-10', 'request-11'];
      for (const requestId of requests)
        await operator.put(dead, shopUpdated(requestId), { ...DEAD, requestId });
      const refused = await refusalOf(redriven(operator, 'shop.updated', { ids: ['request-1'] }));
      expect(refused).toContain("Several ids begin with 'request-1'. Give one of: request-1");
      for (const requestId of requests) expect(refused).toContain(requestId);
      expect(await operator.queues.count(dead)).toBe(2);
    });

    test('keeps messages that cannot be sent', async () => {
      const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
      const outputs = { ShopUpdatedQueueUrl: `${source}-that-is-gone` };
      expect(await redriven(operator, 'shop.updated', { ids: [id], outputs })).toMatchObject({ done: false });
      expect(await operator.queues.count(dead)).toBe(1);
    });
  });

  describe('redrive of unrouted', () => {
    test('moves messages that have a consumer now, and counts the rest', async () => {
      await operator.put(unrouted, shopUpdated('shop-1'), { event: 'shop.updated' });
      // `shop_updated` would have the same stack output (`ShopUpdatedQueueUrl`) as the known event `shop.updated`.
      for (const event of ['example.unknown', 'example.unknown', 'shop_updated']) {
        await operator.put(unrouted, '{}', { event });
      }
      const { done, said } = await redriven(operator, 'unrouted');
      expect(done).toBe(false);
      expect(said.toSorted()).toEqual([
        '    1 × moved to the queue of shop.updated',
        "    1 × stays: event kind 'example.unknown' has no consumer (2 copies)",
        "    1 × stays: event kind 'shop_updated' has no consumer",
      ]);
      expect([await operator.queues.count(unrouted), await operator.queues.count(source)]).toEqual([3, 1]);
    });

    test('that is interrupted says that nothing is lost', async () => {
      await operator.put(unrouted, '{}', { event: 'shop.updated' });
      expect(await redriven(operator, 'unrouted', { signal: AbortSignal.abort() })).toEqual({
        done: false,
        said: [expect.stringContaining('Nothing is lost')],
      });
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
  const redriveQuarantine = (options?: Parameters<typeof redriven>[2]) =>
    redriven(operator, 'quarantine', options);
  const waiting = () => operator.queues.count(quarantine());

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
    expect(await redriven(operator, 'unrouted')).toMatchObject({ done: true });
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
      await operator.put(quarantine(), quarantined(shopUpdated(shopId)), { reason: 'x' });
      const said = ['    1 × accepted by the receiver: queued'];
      expect(await redriveQuarantine()).toEqual({ done: true, said });
      await invalidated(shopId);
      expect(await waiting()).toBe(0);
    });

    test.each([
      ['small', {}],
      ['in S3', { filler: 'x'.repeat(1_100_000) }],
    ])('quarantines unusable messages (%s) once more, byte for byte', async (_name, more) => {
      const body = JSON.stringify({ event: 'shop.updated', data: { shop_id: '' }, ...more });
      await partner.post(body);
      for (let time = 0; time < 2; time += 1) {
        const said = [expect.stringContaining('1 × still unusable')];
        expect(await redriveQuarantine()).toEqual({ done: false, said });
        expect(await waiting()).toBe(1);
      }
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
        const messages = await operator.queues.takeAll(quarantine());
        return messages.map(({ Body = '{}' }) =>
          Buffer.from(JSON.parse(Body).bodyBase64, 'base64').toString(),
        );
      };

      test('delivers the one, and removes its copies', async () => {
        const shopId = randomUUID();
        await putCopies(shopUpdated(shopId));
        const { done, said } = await redriveQuarantine();
        expect(done).toBe(false);
        expect(said.toSorted()).toEqual([
          expect.stringContaining('    1 × accepted by the receiver: queued (14 copies)'),
          expect.stringContaining('    1 × still unusable'),
        ]);
        await invalidated(shopId);
        expect(await left()).toEqual([other]);
      });

      test('keeps one message of those that are still unusable: the new one', async () => {
        await putCopies(unusable);
        const said = [expect.stringMatching(/^ {4}2 × still unusable.* \(15 copies\)$/)];
        expect(await redriveQuarantine()).toEqual({ done: false, said });
        expect((await left()).toSorted()).toEqual([other, unusable].toSorted());
      });

      test.each(['message', 'event'])(
        'redrives all copies by the id of the %s, and nothing else',
        async (of) => {
          const messageId = await putCopies(unusable);
          const id = of === 'message' ? messageId : sha256Hex(unusable);
          expect(await redriveQuarantine({ ids: [id] })).toMatchObject({ done: false });
          expect((await left()).toSorted()).toEqual([other, unusable].toSorted());
        },
      );

      test('removes no copy if nothing answers', async () => {
        await putCopies(shopUpdated(randomUUID()));
        const outputs = { WebhookUrl: 'http://127.0.0.1:1/' };
        expect(await redriveQuarantine({ outputs })).toMatchObject({ done: false });
        expect(await left()).toHaveLength(15);
      });
    });

    test('does not remove other bytes under the same event id', async () => {
      const shopIds = [randomUUID(), randomUUID()];
      for (const shopId of shopIds) {
        await operator.put(quarantine(), quarantined(shopUpdated(shopId)), { eventId: DEAD.eventId });
      }
      expect(await redriveQuarantine()).toMatchObject({ done: true });
      for (const shopId of shopIds) await invalidated(shopId);
    });

    test.each([
      ['something other than the receiver refuses it', () => stack.awsUrl],
      ['the answer does not identify the new message', () => `http://127.0.0.1:${anonymousPort()}/`],
    ])('keeps everything if %s', async (_name, url) => {
      await operator.put(quarantine(), quarantined(shopUpdated('shop-1')));
      const outputs = { WebhookUrl: url() };
      expect(await redriveQuarantine({ outputs })).toMatchObject({ done: false });
      expect(await waiting()).toBe(1);
    });
  });
});
