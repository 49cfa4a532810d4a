import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import {
  ChangeMessageVisibilityCommand,
  DeleteQueueCommand,
  type Message,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { Partner } from '../../../../test/support/partner.ts';
import { type SharedStack, sharedStack } from '../../../../test/support/shared-stack.ts';
import { Tables } from '../../../../test/support/tables.ts';
import type { Operation } from '../../../stage/operation.ts';
import { dlqDiscard } from '../../../stage/queues/dlq-discard.ts';
import { findQueue, type WaitingQueue } from '../../../stage/queues/queue.ts';
import { redrive } from '../../../stage/queues/redrive.ts';
import type { MessageFilter } from '../../../stage/queues/selected-messages.ts';
import type { Stage } from '../../../stage/stage.ts';
import { Project } from '../../commands/project.ts';
import { DEAD, Operator, quarantined, refusalOf, replied, shopUpdated, startedOperator } from './support.ts';

interface RedriveOptions {
  readonly filter?: MessageFilter;
  readonly rate?: number;
  readonly outputs?: object;
  readonly signal?: AbortSignal;
  readonly clients?: Pick<Stage, 'sqs'>;
}

async function redriven(
  operator: Operator,
  name: string,
  { filter = {}, rate = 500, outputs, signal, clients }: RedriveOptions = {},
) {
  const stack = operator.stack.with({ ...clients, outputs: { ...operator.outputs, ...outputs } });
  const { said, reported, ...operation } = operator.operation(signal);
  const queue = await findQueue(stack, name);
  const done = await redrive({ ...operation, stack }, queue, filter, rate);
  expect(said.shift()).toBe(`Redrive of ${queue.title} in ${operator.stack.title}:`);
  return { done, said, reported };
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
  const putDead = async (count: number, attributes: Parameters<Operator['put']>[2] = DEAD) => {
    for (let number = 0; number < count; number += 1) {
      await operator.put(dead, shopUpdated('shop-1'), attributes);
    }
  };
  const redriveShopUpdated = (options?: RedriveOptions) => redriven(operator, 'shop.updated', options);

  test('a redrive of nothing is refused with the reason', async () => {
    const empty = 'Nothing to redrive: the unrouted queue is empty';
    expect(await refusalOf(redriven(operator, 'unrouted'))).toBe(empty);
    await putDead(1);
    expect(await refusalOf(redriveShopUpdated({ filter: { shop: 'shop-2' } }))).toBe(
      'Nothing to redrive: no message on the dead-letter queue of shop.updated matches',
    );
  });

  test('moves dead letters with their attributes, but without what made them dead letters', async () => {
    await putDead(25, { ...DEAD, byHand: Uint8Array.of(1) });
    const { done, said, reported } = await redriveShopUpdated();
    expect({ done, said }).toEqual({
      done: true,
      said: ['    1 × moved to the queue of shop.updated (25 copies)'],
    });
    expect(reported).toMatchObject([{ queue: 'shop.updated', missing: [], interrupted: false }]);
    expect(await counts()).toEqual([0, 25]);
    const { failureReason: _reason, failedAt: _at, ...carried } = DEAD;
    const [{ Body, MessageAttributes = {} } = {}] = await operator.queues.takeAll(source);
    expect(Body).toBe(shopUpdated('shop-1'));
    expect(
      Object.fromEntries(
        Object.entries(MessageAttributes).map(([name, { StringValue, BinaryValue }]) => [
          name,
          StringValue ?? BinaryValue,
        ]),
      ),
    ).toEqual({ ...carried, byHand: Uint8Array.of(1) });
  });

  test('that is interrupted leaves every message on one of the queues', async () => {
    await putDead(5);
    const interruption = new AbortController();
    const redriving = redriveShopUpdated({ rate: 1, signal: interruption.signal });
    await eventually(async () => (await operator.queues.count(source)) || undefined);
    interruption.abort();
    const { done, said } = await redriving;
    expect({ done, last: said.at(-1) }).toEqual({
      done: false,
      last: expect.stringContaining('Nothing is lost'),
    });
    const [left = 0, moved = 0] = await counts();
    expect(left).toBeGreaterThan(0);
    expect(left + moved).toBe(5);
  });

  test.each<[string, MessageFilter]>([
    ['a shop, by its whole id', { shop: 'shop-1' }],
    ['a text of the payload', { search: 'YUKI' }],
    ['a text that the payload has as JSON escapes', { search: '由紀' }],
    ['an id', { ids: ['request-of-shop-1'] }],
  ])('moves only messages with %s', async (_name, filter) => {
    const payload = '{"event":"shop.updated","data":{"shop_id":"shop-1","name":"Yuki \\u7531\\u7d00"}}';
    await operator.put(dead, payload, { ...DEAD, requestId: 'request-of-shop-1' });
    await operator.put(dead, shopUpdated('shop-10'), DEAD);
    await operator.put(dead, 'not JSON', DEAD);
    expect(await redriveShopUpdated({ filter })).toMatchObject({ done: true });
    expect((await operator.queues.takeAll(source)).map(({ Body }) => Body)).toEqual([payload]);
    expect(await operator.queues.count(dead)).toBe(2);
  });

  test('moves all copies of a named message, and not the dead letter of a replay', async () => {
    const replay = JSON.stringify({ name: 'repair-1', mode: 'repair' });
    const replayed = await operator.put(dead, shopUpdated('shop-1'), { ...DEAD, replay });
    const copies: string[] = [];
    for (const requestId of ['request-1', 'request-2']) {
      const failure = { failureReason: `failure of ${requestId}`, failedAt: new Date().toISOString() };
      copies.push(await operator.put(dead, shopUpdated('shop-1'), { ...DEAD, ...failure, requestId }));
    }
    expect(await refusalOf(redriveShopUpdated({ filter: { ids: ['request-'] } }))).toBe(
      "Several ids begin with 'request-'. Give more characters of one",
    );
    const ids = copies.slice(0, 1).map((id) => id.slice(0, 8));
    expect(await redriveShopUpdated({ filter: { ids } })).toMatchObject({
      done: true,
      said: ['    1 × moved to the queue of shop.updated (2 copies)'],
    });
    const moved = await operator.queues.takeAll(source);
    const requests = moved.map(({ MessageAttributes }) => MessageAttributes?.requestId?.StringValue);
    expect(requests.toSorted()).toEqual(['request-1', 'request-2']);
    expect((await operator.queues.takeAll(dead)).map(({ MessageId }) => MessageId)).toEqual([replayed]);
  });

  test('names a missing id, and moves the others; if all are missing, it is refused', async () => {
    const id = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    await expect(redriveShopUpdated({ filter: { ids: ['no-such-id'] } })).rejects.toThrow('no-such-id');
    expect(await redriveShopUpdated({ filter: { ids: [id, 'no-such-id'] } })).toMatchObject({
      done: false,
      said: [
        '    1 × moved to the queue of shop.updated',
        expect.stringContaining('Not on the dead-letter queue of shop.updated: no-such-id'),
      ],
      reported: [
        {
          outcomes: [{ id, what: 'moved to the queue of shop.updated', redriven: true }],
          missing: ['no-such-id'],
        },
      ],
    });
  });

  test('keeps messages that cannot be sent', async () => {
    await putDead(1);
    const outputs = { ShopUpdatedQueueUrl: `${source}-that-is-gone` };
    expect(await redriveShopUpdated({ outputs })).toMatchObject({ done: false });
    expect(await operator.queues.count(dead)).toBe(1);
  });

  test('of unrouted moves messages that have a consumer now, and counts the rest', async () => {
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

  test('of a queue that a removed event has left moves its messages to the unrouted queue', async () => {
    const name = 'ShopClosedDeadLetterQueue4E5F6A7B-X9Y8Z7';
    const QueueUrl = await operator.leaveQueue(name);
    await operator.put(QueueUrl, '{}', { ...DEAD, event: 'shop.closed' });
    expect(await redriven(operator, name)).toMatchObject({
      done: true,
      said: ['    1 × moved to the unrouted queue'],
    });
    await operator.queues.client.send(new DeleteQueueCommand({ QueueUrl }));
    const { MessageAttributes } = await operator.queues.take(unrouted);
    expect(MessageAttributes).toMatchObject({ event: { StringValue: 'shop.closed' } });
    expect(MessageAttributes).not.toHaveProperty('failureReason');
  });
});

describe('with consumers', () => {
  let stack: SharedStack;
  let operator: Operator;
  let tables: Tables;
  let partner: Partner;
  let project: Project;

  beforeAll(async () => {
    project = await Project.create();
    stack = await sharedStack();
    operator = await Operator.create(stack);
    tables = new Tables(stack.operator);
    partner = new Partner(stack.outputs.WebhookUrl);
  });
  afterAll(async () => {
    await operator.close();
    await project.remove();
  });
  beforeEach(() => operator.empty());

  const invalidated = (shop_id: string) =>
    eventually(() => tables.get(stack.outputs.ShopCacheTable, { shop_id }));
  const quarantine = () => stack.outputs.QuarantineQueueUrl;
  const redriveQuarantine = (options?: RedriveOptions) => redriven(operator, 'quarantine', options);
  const waiting = () => operator.queues.count(quarantine());
  const putPayload = (Key: string, Body: string) =>
    operator.stack.s3.send(new PutObjectCommand({ Bucket: operator.outputs.PayloadBucket, Key, Body }));
  const hasPayload = (Key: string) =>
    operator.stack.s3.send(new HeadObjectCommand({ Bucket: operator.outputs.PayloadBucket, Key })).then(
      () => true,
      () => false,
    );

  test('an unrouted event whose payload is in S3 is processed, and its former payload deleted', async () => {
    const [shopId, other] = [randomUUID(), randomUUID()];
    for (const [id, event] of [
      [shopId, 'shop.updated'],
      [other, 'example.unknown'],
    ] as const) {
      const payloadKey = `unrouted/${id}`;
      await putPayload(payloadKey, shopUpdated(id));
      const attributes = { ...DEAD, event, payloadKey };
      await operator.put(stack.outputs.UnroutedQueueUrl, JSON.stringify({ payloadKey }), attributes);
    }
    expect(await redriven(operator, 'unrouted')).toMatchObject({ done: false });
    await invalidated(shopId);
    const keys = [`shop.updated/${shopId}`, `unrouted/${shopId}`, `unrouted/${other}`];
    expect(await Promise.all(keys.map(hasPayload))).toEqual([true, false, true]);
  });

  test('a payload stays while a message needs it: one that was moved, but could not be deleted', async () => {
    const shopId = randomUUID();
    const payloadKey = `unrouted/${shopId}`;
    await putPayload(payloadKey, shopUpdated(shopId));
    const QueueUrl = stack.outputs.UnroutedQueueUrl;
    await operator.put(QueueUrl, JSON.stringify({ payloadKey }), { ...DEAD, payloadKey });
    const handles: string[] = [];
    const sqs = replied(new SQSClient(stack.operator), (command, { ReceiptHandle }) => {
      if (command !== 'DeleteMessageCommand') return;
      handles.push(ReceiptHandle);
      throw new Error('test');
    });
    const said = [expect.stringContaining('1 × moved'), expect.stringContaining('could not be deleted')];
    expect(await redriven(operator, 'unrouted', { clients: { sqs } })).toMatchObject({ done: false, said });
    expect(await hasPayload(payloadKey)).toBe(true);
    const visible = { QueueUrl, ReceiptHandle: handles[0], VisibilityTimeout: 0 };
    await sqs.send(new ChangeMessageVisibilityCommand(visible));
    sqs.destroy();
    expect(await redriven(operator, 'unrouted')).toMatchObject({ done: true });
    expect(await hasPayload(payloadKey)).toBe(false);
    await invalidated(shopId);
    // A copy that another redrive held meanwhile.
    await operator.put(QueueUrl, JSON.stringify({ payloadKey }), { ...DEAD, payloadKey });
    expect(await redriven(operator, 'unrouted')).toMatchObject({ done: true });
  });

  describe('redrive of quarantine', () => {
    test('delivers usable messages, and removes them and their payloads', async () => {
      const [small, large] = [randomUUID(), randomUUID()];
      await operator.put(quarantine(), quarantined(shopUpdated(small)), { reason: 'x' });
      const payloadKey = `quarantine/${sha256Hex(shopUpdated(large))}`;
      await putPayload(payloadKey, shopUpdated(large));
      await operator.put(quarantine(), JSON.stringify({ payloadKey }), { payloadKey });
      const said = ['    2 × accepted by the receiver: queued'];
      expect(await redriveQuarantine()).toMatchObject({ done: true, said });
      for (const shopId of [small, large]) await invalidated(shopId);
      expect({ waiting: await waiting(), isKept: await hasPayload(payloadKey) }).toEqual({
        waiting: 0,
        isKept: false,
      });
    });

    test('quarantines an unusable message in S3 once more, byte for byte', async () => {
      const filler = 'x'.repeat(1_100_000);
      await partner.post(JSON.stringify({ event: 'shop.updated', data: { shop_id: '' }, filler }));
      for (let time = 0; time < 2; time += 1) {
        const said = [expect.stringContaining('1 × still unusable')];
        expect(await redriveQuarantine()).toMatchObject({ done: false, said });
        expect(await waiting()).toBe(1);
      }
    });

    const [unusable, other] = ['{"event":"shop.updated","data":{"shop_id":""}}', '{"event":'];

    /** Puts 14 copies of a delivery, and another. @returns the message id of a copy */
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

    const left = async () =>
      (await operator.queues.takeAll(quarantine())).map(({ Body = '{}' }) =>
        Buffer.from(JSON.parse(Body).bodyBase64, 'base64').toString(),
      );

    test('delivers one of several copies, and removes the others', async () => {
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

    test('redrives all copies of a named message, keeps one that is still unusable, and nothing else', async () => {
      const ids = [await putCopies(unusable)];
      const said = [expect.stringMatching(/^ {4}1 × still unusable.* \(14 copies\)$/)];
      expect(await redriveQuarantine({ filter: { ids } })).toMatchObject({ done: false, said });
      expect((await left()).toSorted()).toEqual([other, unusable].toSorted());
    });

    test.each([
      [200, '{"status":"ignored"}', 'the receiver ignores this kind of event: discard it'],
      [200, '{}', 'the answer was 200'],
      [400, '{"status":"queued"}', 'the answer was 400'],
      [403, '<Error/>', 'the answer was 403'],
    ])('keeps a message after the answer %d %s, and says why', async (status, answer, why) => {
      await operator.put(quarantine(), quarantined('{}'), { reason: 'x' });
      const server = createServer((_, response) => response.writeHead(status).end(answer)).listen(0);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const result = await redriveQuarantine({ outputs: { WebhookUrl: `http://localhost:${port}` } });
      server.close();
      expect(result).toMatchObject({ done: false, said: [`    1 × stays: ${why}`] });
      expect(await waiting()).toBe(1);
    });

    test('keeps everything if nothing answers', async () => {
      await putCopies(shopUpdated(randomUUID()));
      const outputs = { WebhookUrl: 'http://127.0.0.1:1/' };
      expect(await redriveQuarantine({ outputs })).toMatchObject({ done: false });
      expect(await left()).toHaveLength(15);
    });
  });

  describe('discard', () => {
    const dead = () => stack.outputs.ShopUpdatedDeadLetterQueueUrl;
    const putShop = (shopId: string) =>
      operator.put(dead(), shopUpdated(shopId), { ...DEAD, requestId: `request-of-${shopId}` });
    const newFile = () => operator.path(`${randomUUID()}.jsonl`);

    async function discarded(filter: MessageFilter, consent?: Parameters<typeof dlqDiscard>[3]) {
      const { said, reported, ...operation } = operator.operation();
      const done = await dlqDiscard(operation, operator.queue('shop.updated'), filter, consent);
      return { done, said, reported };
    }

    test('exports and logs the selected messages, deletes them, and keeps the others', async () => {
      for (const shopId of ['shop-1', 'shop-1', 'shop-10']) await putShop(shopId);
      const exportTo = newFile();
      const reason = `test data ${randomUUID()}`;
      expect(await discarded({ shop: 'shop-1' }, { reason, exportTo })).toMatchObject({
        done: true,
        said: [
          `1 event, 2 copies on the dead-letter queue of shop.updated in ${operator.stack.title}:`,
          `    1 × ${DEAD.failureReason} (2 copies)`,
          expect.stringMatching(
            /^Discarded 2 messages from the dead-letter queue of shop\.updated in .*, by arn:/,
          ),
        ],
      });
      const exported = (await readFile(exportTo, 'utf8')).trim().split('\n');
      expect(exported.map((line) => JSON.parse(line).body)).toEqual([
        shopUpdated('shop-1'),
        shopUpdated('shop-1'),
      ]);
      expect((await operator.queues.takeAll(dead())).map(({ Body }) => Body)).toEqual([
        shopUpdated('shop-10'),
      ]);
      const logGroupName = operator.outputs.ShopUpdatedLogGroup;
      // Other test files discard messages of this stack, too.
      const filterPattern = `{ $.message = "Discarded" && $.reason = "${reason}" }`;
      const { events = [] } = await operator.stack.logs.send(
        new FilterLogEventsCommand({ logGroupName, filterPattern }),
      );
      const logged = events.map(({ message = '' }) => JSON.parse(message));
      expect(logged).toHaveLength(2);
      expect(logged[0]).toEqual({
        timestamp: expect.any(String),
        level: 'INFO',
        message: 'Discarded',
        queue: 'shop.updated',
        event: 'shop.updated',
        eventId: DEAD.eventId,
        requestId: 'request-of-shop-1',
        messageId: expect.any(String),
        by: expect.stringMatching(/^arn:/),
        reason,
      });
    });

    test('a message whose payload is gone stays if it was to be exported, and is deleted with --no-export', async () => {
      const payloadKey = 'shop.updated/gone';
      await operator.put(dead(), JSON.stringify({ payloadKey }), { ...DEAD, payloadKey });
      const { done, said } = await discarded({}, { reason: 'x', exportTo: newFile() });
      expect(done).toBe(false);
      expect(said).toContain('Not discarded: 1 message, because the payload could not be exported.');
      expect(await operator.queues.count(dead())).toBe(1);
      expect(await discarded({}, { reason: 'x', exportTo: undefined })).toMatchObject({ done: true });
      expect(await operator.queues.count(dead())).toBe(0);
    });

    test('deletes nothing if the export cannot be written, or nothing matches', async () => {
      await putShop('shop-1');
      const refused = await refusalOf(discarded({}, { reason: 'x', exportTo: operator.outputsFile }));
      expect(refused).toContain(`${operator.outputsFile} exists already`);
      expect(await refusalOf(discarded({ search: 'nobody' }))).toContain('Nothing to discard: no message');
      expect(await operator.queues.count(dead())).toBe(1);
    });

    test.each([
      { options: [], code: 0, left: 1 },
      { options: ['--reason', 'spam'], code: 2, left: 1 },
      { options: ['--no-export'], code: 2, left: 1 },
      { options: ['--reason', 'a\nb', '--no-export'], code: 2, left: 1 },
      { options: ['--reason', 'spam', '--no-export'], code: 0, left: 0 },
    ])('needs a reason and a decision about the export: $options', async ({ options, code, left }) => {
      await putShop('shop-1');
      const typed = ['dlq', 'discard', 'shop.updated', ...options, '--outputs', operator.outputsFile];
      const ended = await project.type(typed);
      expect(ended).toMatchObject({ code });
      if (options.length === 0)
        expect(ended.stdout).toMatch(
          /1 × Internal.*\nNothing was discarded\. To discard them, give --reason/,
        );
      expect(await operator.queues.count(dead())).toBe(left);
    });
  });

  describe('two operators at once', () => {
    /** Rounds of each test. Each has other moments at which the two commands meet, and at which one is killed. */
    const ROUNDS = 2;

    type Command = (operation: Operation, queue: WaitingQueue) => Promise<unknown>;

    const redriveAll: Command = (operation, queue) => redrive(operation, queue, {}, 500);

    /**
     * A command of one of the operators: each call takes a random time, and half of the commands are killed after a
     * random number of calls. A killed command makes no further call.
     * @returns when it has ended, and the messages that it received are visible again
     */
    async function carriedOut(queue: string, run: Command): Promise<void> {
      const held: string[] = [];
      const sqs = new SQSClient(stack.operator);
      let calls = randomInt(2) === 0 ? randomInt(1, 40) : Number.POSITIVE_INFINITY;
      sqs.middlewareStack.add((next) => async (args) => {
        await sleep(randomInt(5));
        calls -= 1;
        if (calls < 0) throw new Error('killed');
        const result = await next(args);
        const { Messages = [] } = result.output as { Messages?: Message[] };
        held.push(...Messages.map(({ ReceiptHandle = '' }) => ReceiptHandle));
        return result;
      });
      const own = { ...operator.operation(), stack: operator.stack.with({ sqs }) };
      await run(own, operator.queue(queue)).catch(() => {});
      sqs.destroy();
      const { url: QueueUrl } = operator.queue(queue);
      for (const ReceiptHandle of held) {
        const visible = { QueueUrl, ReceiptHandle, VisibilityTimeout: 0 };
        await operator.queues.client.send(new ChangeMessageVisibilityCommand(visible)).catch(() => {});
      }
    }

    /** Puts copies of deliveries on a queue, which both work on at the same time. @returns what is on it then */
    async function bodiesLeft(
      queue: string,
      bodies: readonly string[],
      attributes: Readonly<Record<string, string>>,
      second: Command,
    ) {
      const isQuarantine = queue === 'quarantine';
      const { url } = operator.queue(queue);
      for (const body of bodies) {
        const eventId = sha256Hex(body);
        for (let copies = randomInt(1, 6); copies > 0; copies -= 1) {
          const facts = { ...attributes, eventId, requestId: randomUUID() };
          await operator.put(url, isQuarantine ? quarantined(body) : body, facts);
        }
      }
      await Promise.all([
        carriedOut(queue, redriveAll),
        sleep(randomInt(30)).then(() => carriedOut(queue, second)),
      ]);
      const left = await operator.queues.takeAll(url);
      return left.map(({ Body = '' }) =>
        isQuarantine ? Buffer.from(JSON.parse(Body).bodyBase64, 'base64').toString() : Body,
      );
    }

    const { failureReason: _reason, failedAt: _at, ...PARKED } = DEAD;
    const QUARANTINED = { event: 'unusable', reason: 'x' };

    test.each([
      { queue: 'quarantine', attributes: QUARANTINED, second: 'redrive' },
      { queue: 'shop.updated', attributes: DEAD, second: 'redrive' },
      { queue: 'unrouted', attributes: PARKED, second: 'redrive' },
      { queue: 'shop.updated', attributes: DEAD, second: 'discard' },
    ])(
      'a redrive and a $second of $queue at once, also killed: each body is processed, exported or still there',
      async ({ queue, attributes, second }) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const exportTo = operator.path(`${randomUUID()}.jsonl`);
          const discard: Command = (operation, of) =>
            dlqDiscard(operation, of, {}, { reason: 'x', exportTo });
          const shops = Array.from({ length: 4 }, () => randomUUID());
          const run = second === 'discard' ? discard : redriveAll;
          const left = await bodiesLeft(queue, shops.map(shopUpdated), attributes, run);
          const exported = existsSync(exportTo) ? readFileSync(exportTo, 'utf8') : '';
          const gone = shops.filter((shop) => !left.includes(shopUpdated(shop)) && !exported.includes(shop));
          for (const shop_id of gone) {
            await eventually(() => tables.get(stack.outputs.ShopCacheTable, { shop_id }));
          }
        }
      },
    );

    test('two redrives of deliveries that stay unusable, also killed ones: each body is still there', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const unusable = Array.from(
          { length: 5 },
          () => `{"event":"shop.updated","data":{},"n":"${randomUUID()}"}`,
        );
        const left = await bodiesLeft('quarantine', unusable, QUARANTINED, redriveAll);
        expect([...new Set(left)].toSorted()).toEqual(unusable.toSorted());
      }
    });
  });
});
