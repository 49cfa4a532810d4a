import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { InjectedFaults } from 'local-aws/faults';
import type { EffectOutcome } from '../../../lambda/effects/event-order.ts';
import { EffectNotRecordedError, idempotent } from '../../../lambda/effects/idempotency.ts';
import { NOTIFICATION_RECORD_SECONDS } from '../../../lambda/limits.ts';
import { eventually } from '../../support/eventually.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { Tables } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { captureInTests, FunctionLines } from '../function-lines.ts';

const faults = new InjectedFaults();
let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws(faults);
  Object.assign(process.env, functionEnvironment('review-posted', aws));
});
captureInTests(new FunctionLines(), faults);
afterAll(() => aws.close());

/** Lambda context of a function with this much time left. */
const endingIn = (milliseconds: number) => ({ getRemainingTimeInMillis: () => milliseconds }) as Context;

/** An effect that counts its executions, in a function that ends soon. */
function counted(name: string, remaining = 500) {
  let times = 0;
  const send = idempotent(name, async (): Promise<EffectOutcome> => {
    times += 1;
    return 'Processed';
  });
  return {
    deliver: (eventId = 'e') => send({ eventId, replay: undefined }, endingIn(remaining)),
    replay: (replay: string) =>
      send({ eventId: 'e', replay: { name: replay, notify: true } }, endingIn(remaining)),
    times: () => times,
  };
}

const failNotes = () =>
  faults.inject({ service: 'dynamodb', operation: 'UpdateItem', kind: 'throttled', callers: 'everyone' });

test('an effect happens once per name and event id, and is remembered for a limited time', async () => {
  const { deliver } = counted('once');
  expect([await deliver('a'), await deliver('a'), await deliver('b')]).toEqual([
    'Processed',
    'Duplicate',
    'Processed',
  ]);
  expect(await counted('twice').deliver('a')).toBe('Processed');
  const rows = await new Tables(aws.operator).scan(process.env.IDEMPOTENCY_TABLE);
  const own = rows.filter(({ id }) => /^(once|twice)#/.test(String(id)));
  expect(own).toHaveLength(3);
  for (const { expiration } of own) {
    const seconds = Number(expiration) - Date.now() / 1000;
    expect(seconds).toBeGreaterThan(NOTIFICATION_RECORD_SECONDS - 60);
    expect(seconds).toBeLessThan(NOTIFICATION_RECORD_SECONDS + 60);
  }
});

// The form in which Powertools for AWS Lambda wrote records: an MD5 of the JSON text, in base64.
const FORMER_ID = 'former#CMP0AxnZrD5tsrt7jHbRCw==';

test.each([
  { record: { status: 'COMPLETED', data: 'Processed' }, outcome: 'Duplicate' },
  { record: { status: 'INPROGRESS', in_progress_expiration: 1 }, outcome: 'Processed' },
])('a record of an earlier version counts: $record.status', async ({ record, outcome }) => {
  const { client } = new Tables(aws.operator);
  const Item = marshall({ id: FORMER_ID, expiration: Math.round(Date.now() / 1000) + 60, ...record });
  await client.send(new PutItemCommand({ TableName: process.env.IDEMPOTENCY_TABLE, Item }));
  expect(await counted('former').deliver('e')).toBe(outcome);
});

test('an effect begins although the answer to its record was lost', async () => {
  faults.inject({
    service: 'dynamodb',
    operation: 'PutItem',
    kind: 'response-lost',
    every: 2,
    callers: 'everyone',
  });
  const { deliver, times } = counted('answer-lost');
  expect([await deliver('a'), await deliver('b')]).toEqual(['Processed', 'Processed']);
  expect(times()).toBe(2);
});

test("an effect during which the function died is tried again after that function's timeout", async () => {
  const begun = Promise.withResolvers<void>();
  const dying = idempotent('dying', () => {
    begun.resolve();
    return new Promise<EffectOutcome>(() => {});
  });
  void dying({ eventId: 'e', replay: undefined }, endingIn(1_000));
  await begun.promise;
  const { deliver } = counted('dying');
  await expect(deliver()).rejects.toThrow('has not ended yet');
  expect(await eventually(() => deliver().catch(() => undefined))).toBe('Processed');
  expect(await deliver()).toBe('Duplicate');
});

/**
 * A function that Lambda freezes during its first effect, until the test settles it. The item that marks the
 * effect as started expires at once.
 */
function frozen(name: string) {
  const begun = Promise.withResolvers<void>();
  const thawed = Promise.withResolvers<EffectOutcome>();
  let times = 0;
  const send = idempotent(name, async () => {
    times += 1;
    if (times > 1) return 'Processed';
    begun.resolve();
    return await thawed.promise;
  });
  const deliver = (remaining: number) => send({ eventId: 'e', replay: undefined }, endingIn(remaining));
  const outcome = deliver(1);
  outcome.catch(() => {});
  return { begun: begun.promise, thawed, outcome, deliver };
}

describe('an instance that thaws after another one has taken over its effect', () => {
  test('and fails, does not make it happen again', async () => {
    const first = frozen('completed-elsewhere');
    await first.begun;
    const { deliver, times } = counted('completed-elsewhere');
    expect(await eventually(() => deliver().catch(() => undefined))).toBe('Processed');
    first.thawed.reject(new Error('connection closed'));
    await expect(first.outcome).rejects.toThrow('connection closed');
    expect(await deliver()).toBe('Duplicate');
    expect(times()).toBe(1);
  });

  test('and fails, lets the other one finish alone', async () => {
    const first = frozen('in-progress-elsewhere');
    await first.begun;
    const second = Promise.withResolvers<EffectOutcome>();
    const begun = Promise.withResolvers<void>();
    const send = idempotent('in-progress-elsewhere', () => {
      begun.resolve();
      return second.promise;
    });
    const outcome = eventually(() =>
      send({ eventId: 'e', replay: undefined }, endingIn(60_000)).catch(() => undefined),
    );
    await begun.promise;
    first.thawed.reject(new Error('connection closed'));
    await expect(first.outcome).rejects.toThrow('connection closed');
    const { deliver, times } = counted('in-progress-elsewhere');
    await expect(deliver()).rejects.toThrow('has not ended yet');
    second.resolve('Processed');
    expect(await outcome).toBe('Processed');
    expect(times()).toBe(0);
  });

  test('and succeeds, keeps it from happening again, though the other one fails', async () => {
    const first = frozen('done-after-all');
    await first.begun;
    const second = idempotent('done-after-all', async () => {
      first.thawed.resolve('Processed');
      await first.outcome;
      throw new Error('SNS is down');
    });
    const failure = eventually(() =>
      second({ eventId: 'e', replay: undefined }, endingIn(60_000)).catch(({ message }: Error) =>
        message.includes('not ended') ? undefined : message,
      ),
    );
    expect(await failure).toBe('SNS is down');
    const { deliver, times } = counted('done-after-all');
    expect(await deliver()).toBe('Duplicate');
    expect(times()).toBe(0);
  });
});

test('the note of an effect is written in up to five attempts, because without it the effect is repeated', async () => {
  failNotes();
  const before = faults.counts.throttled;
  await expect(counted('noting').deliver()).rejects.toThrow(EffectNotRecordedError);
  expect(faults.counts.throttled - before).toBe(5);
});

test('an effect that a replay repeats is repeated only if its note could not be written', async () => {
  const { deliver, replay, times } = counted('unnoted');
  await deliver();
  const end = failNotes();
  await expect(replay('a')).rejects.toThrow(EffectNotRecordedError);
  end();
  expect(await eventually(() => replay('a').catch(() => undefined))).toBe('Processed');
  expect(await replay('a')).toBe('Duplicate');
  expect(times()).toBe(3);
});
