import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { queueState } from '../../../../tools/stage/queues/queue.ts';
import { type WaitingMessage, waitingMessages } from '../../../../tools/stage/queues/waiting-messages.ts';
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

const isDead = ({ eventId }: WaitingMessage) => eventId === DEAD.eventId;
const found = (fits = isDead, signal = new AbortController().signal) =>
  waitingMessages(operator.stack, fits, signal);

describe('messages that wait for a person', () => {
  test('are found on every queue with what is known of each, and stay where they are', async () => {
    const body = shopUpdated('shop-1');
    const messageId = await operator.put(dead, body, DEAD);
    await operator.put(operator.outputs.UnroutedQueueUrl, body, { ...DEAD, event: 'shop.closed' });
    await operator.put(dead, shopUpdated('shop-2'), { ...DEAD, eventId: 'f'.repeat(64) });
    const { messages, complete } = await found();
    const sentAt = messages.find((one) => one.messageId === messageId)?.message.sentAt.getTime() ?? 0;
    expect(complete).toBe(true);
    expect(messages).toHaveLength(2);
    expect(messages).toContainEqual(
      expect.objectContaining({
        messageId,
        body,
        queue: expect.objectContaining({ name: 'shop.updated' }),
        event: 'shop.updated',
        requestId: DEAD.requestId,
        failureReason: DEAD.failureReason,
        keptUntil: new Date(sentAt + KEPT),
      }),
    );
    expect(messages).toContainEqual(expect.objectContaining({ event: 'shop.closed' }));
    expect(await queueState(operator.stack.sqs, dead)).toMatchObject({ visible: 2, inFlight: 0 });
  });

  test('are known by their bytes if they were sent by hand', async () => {
    await operator.put(dead, shopUpdated('shop-1'));
    const { messages } = await found(({ eventId }) => eventId === sha256Hex(shopUpdated('shop-1')));
    expect(messages).toMatchObject([{ requestId: undefined, failureReason: undefined }]);
  });

  test('may be more if somebody holds a message or the search is interrupted', async () => {
    await operator.put(dead, shopUpdated('shop-1'), DEAD);
    expect((await found(isDead, AbortSignal.abort())).complete).toBe(false);
    await operator.hold(dead);
    expect((await found()).complete).toBe(false);
  });
});
