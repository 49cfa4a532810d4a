import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import type { EffectOutcome } from '../../../lambda/effects/event-order.ts';
import { idempotent } from '../../../lambda/effects/idempotency.ts';
import { Faults } from '../../../local/aws/faults.ts';
import { eventually } from '../../support/eventually.ts';
import { functionEnvironment } from '../../support/function-environment.ts';
import { Tables } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const NINETY_DAYS = 90 * 24 * 60 * 60;

const faults = new Faults();
let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws(faults);
  Object.assign(process.env, functionEnvironment('review-posted', aws));
});
// The SDK then retries a call at once.
beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => {
  jest.restoreAllMocks();
  faults.clear();
});
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

test('an effect happens once per name and event id, and is remembered for 90 days', async () => {
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
    expect(seconds).toBeGreaterThan(NINETY_DAYS - 60);
    expect(seconds).toBeLessThan(NINETY_DAYS + 60);
  }
});

test('a failed effect is tried again', async () => {
  const failing = idempotent('failing', () => Promise.reject(new Error('SNS is down')));
  await expect(failing({ eventId: 'e', replay: undefined }, endingIn(500))).rejects.toThrow('SNS is down');
  expect(await counted('failing').deliver()).toBe('Processed');
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
  await expect(deliver()).rejects.toThrow('already an execution in progress');
  expect(await eventually(() => deliver().catch(() => undefined))).toBe('Processed');
  expect(await deliver()).toBe('Duplicate');
});

test('the note of an effect is written in up to five attempts, because without it the effect is repeated', async () => {
  failNotes();
  const before = faults.counts.throttled;
  await expect(counted('noting').deliver()).rejects.toThrow('Failed to update success record');
  expect(faults.counts.throttled - before).toBe(5);
});

describe('an effect that a replay repeats', () => {
  test('happens once more for each name', async () => {
    const { deliver, replay, times } = counted('again');
    const outcomes = [];
    for (const act of [deliver, () => replay('a'), () => replay('a'), () => replay('b'), deliver]) {
      outcomes.push(await act());
    }
    expect(outcomes).toEqual(['Processed', 'Processed', 'Duplicate', 'Processed', 'Duplicate']);
    expect(times()).toBe(3);
  });

  test('is the ordinary effect if it never happened', async () => {
    const { deliver, replay, times } = counted('never');
    expect([await replay('a'), await deliver()]).toEqual(['Processed', 'Duplicate']);
    expect(times()).toBe(1);
  });

  test('is repeated only if its note could not be written', async () => {
    const { deliver, replay, times } = counted('unnoted');
    await deliver();
    const end = failNotes();
    await expect(replay('a')).rejects.toThrow('Failed to update success record');
    end();
    expect(await eventually(() => replay('a').catch(() => undefined))).toBe('Processed');
    expect(await replay('a')).toBe('Duplicate');
    expect(times()).toBe(3);
  });
});
