import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChangeMessageVisibilityCommand, type Message, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { type SharedStack, sharedStack } from '../../../../test/support/shared-stack.ts';
import { Tables } from '../../../../test/support/tables.ts';
import type { Operation } from '../../../stage/operation.ts';
import { dlqDiscard } from '../../../stage/queues/dlq-discard.ts';
import type { WaitingQueue } from '../../../stage/queues/queue.ts';
import { redrive } from '../../../stage/queues/redrive.ts';
import { DEAD, Operator, quarantined, shopUpdated } from './support.ts';

/** Rounds of each test. Each has other moments at which the two commands meet, and at which one is killed. */
const ROUNDS = 2;

let stack: SharedStack;
let operator: Operator;
let tables: Tables;

beforeAll(async () => {
  stack = await sharedStack();
  operator = await Operator.create(stack);
  tables = new Tables(stack.operator);
});
afterAll(() => operator.close());
beforeEach(() => operator.empty());

type Command = (operation: Operation, queue: WaitingQueue) => Promise<unknown>;

const redriveAll: Command = (operation, queue) => redrive(operation, queue, {}, 500);

/**
 * A command of one of the operators: each call takes a random time, and half of the commands are killed after a random
 * number of calls. A killed command makes no further call.
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

/** Puts copies of deliveries on a queue, which one operator redrives at the same time. @returns what is on it then */
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
      const discard: Command = (operation, of) => dlqDiscard(operation, of, {}, { reason: 'x', exportTo });
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
