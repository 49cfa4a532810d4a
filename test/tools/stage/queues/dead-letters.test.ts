import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { deadLettersOf } from '../../../../tools/stage/queues/dead-letters.ts';
import { queueState } from '../../../../tools/stage/queues/queue.ts';
import { startTestAws, type TestAws } from '../../../support/test-aws.ts';
import { DEAD, Operator, shopUpdated } from './support.ts';

/** A dead-letter queue keeps messages so long, in milliseconds. */
const KEPT = 14 * 24 * 60 * 60 * 1000;

let aws: TestAws;
let operator: Operator;
let dead: string;

beforeAll(async () => {
  aws = await startTestAws();
  operator = await Operator.create(aws);
  dead = operator.queue('shop.updated').url;
});
afterAll(async () => {
  await operator.close();
  await aws.close();
});
beforeEach(() => operator.empty());

const never = new AbortController().signal;
const found = (delivery: { readonly requestId?: string; readonly eventId: string }, signal = never) =>
  deadLettersOf(operator.stack, 'shop.updated', delivery, signal);

describe('the dead letters of a delivery', () => {
  test('are found with what is known of each, and stay where they are', async () => {
    const { requestId, eventId, failureReason } = DEAD;
    const from = Date.now();
    const messageId = await operator.put(dead, shopUpdated('shop-1'), DEAD);
    await operator.put(dead, shopUpdated('shop-1'), { ...DEAD, requestId: 'another' });
    const { deadLetters, complete } = await found({ requestId, eventId });
    expect(deadLetters).toEqual([
      {
        messageId,
        requestId,
        sentAt: expect.any(Number),
        reason: failureReason,
        movedBySqs: false,
        maxReceiveCount: 10,
        keptUntil: (deadLetters[0]?.sentAt ?? 0) + KEPT,
      },
    ]);
    expect(deadLetters[0]?.sentAt).toBeGreaterThanOrEqual(from);
    expect(complete).toBe(true);
    expect(await queueState(operator.stack.sqs, dead)).toMatchObject({ visible: 2, inFlight: 0 });
  });

  test('are all that have its bytes if its request is unknown', async () => {
    await operator.put(dead, shopUpdated('shop-1'), DEAD);
    await operator.put(dead, shopUpdated('shop-1'), { ...DEAD, requestId: 'another' });
    await operator.put(dead, shopUpdated('shop-2'), { ...DEAD, eventId: 'f'.repeat(64) });
    expect((await found({ eventId: DEAD.eventId })).deadLetters).toHaveLength(2);
  });

  test('have no reason if SQS moved them', async () => {
    const { failureReason: _reason, failedAt: _at, ...facts } = DEAD;
    await operator.put(dead, shopUpdated('shop-1'), facts);
    expect((await found(DEAD)).deadLetters).toMatchObject([{ reason: undefined, movedBySqs: true }]);
  });

  test('are none if the queue is empty', async () => {
    expect(await found(DEAD)).toEqual({ deadLetters: [], complete: true });
  });

  test('may be more if somebody holds a message or the search is interrupted', async () => {
    await operator.put(dead, shopUpdated('shop-1'), DEAD);
    expect((await found(DEAD, AbortSignal.abort())).complete).toBe(false);
    await operator.hold(dead);
    expect((await found(DEAD)).complete).toBe(false);
  });
});
