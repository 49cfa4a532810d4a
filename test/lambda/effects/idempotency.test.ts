import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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
afterAll(() => aws.close());

/** What Lambda says to a function that must end so soon. */
const endingIn = (milliseconds: number) => ({ getRemainingTimeInMillis: () => milliseconds }) as Context;

const notifying = (name: string) => ({ name, notify: true });

/** Carries out an effect once for each event id, in a function that has half a minute. */
const within = (name: string, effect: () => Promise<EffectOutcome>) => (eventId: string) =>
  idempotent(name, effect)({ eventId, replay: undefined }, endingIn(30_000));

const done = async (): Promise<EffectOutcome> => 'Processed';

test('an effect happens once for each event id of its name, and is remembered for 90 days', async () => {
  const once = within('once', done);
  expect([await once('a'), await once('a'), await once('b')]).toEqual([
    'Processed',
    'Duplicate',
    'Processed',
  ]);
  expect(await within('twice', done)('a')).toBe('Processed');
  const rows = await new Tables(aws.operator).scan(process.env.IDEMPOTENCY_TABLE);
  expect(rows).toHaveLength(3);
  for (const { expiration } of rows) {
    const seconds = Number(expiration) - Date.now() / 1000;
    expect(seconds).toBeGreaterThan(NINETY_DAYS - 60);
    expect(seconds).toBeLessThan(NINETY_DAYS + 60);
  }
});

test('an effect that failed is tried again', async () => {
  const failing = within('failing', () => Promise.reject(new Error('SNS is down')));
  await expect(failing('a')).rejects.toThrow('SNS is down');
  expect(await within('failing', done)('a')).toBe('Processed');
});

test('an effect that a function died with is not silenced: it is tried again once that function must have ended', async () => {
  const MILLISECONDS_LEFT = 2_000;
  const begun = Promise.withResolvers<void>();
  const dying = idempotent('dying', () => {
    begun.resolve();
    return new Promise<EffectOutcome>(() => {});
  });
  void dying({ eventId: 'a', replay: undefined }, endingIn(MILLISECONDS_LEFT));
  await begun.promise;
  const again = within('dying', done);
  await expect(again('a')).rejects.toThrow('already an execution in progress');
  expect(await eventually(() => again('a').catch(() => undefined))).toBe('Processed');
  expect(await again('a')).toBe('Duplicate');
});

test('the note of an effect is written in five attempts at most, as without it the effect is repeated', async () => {
  const noting = within('noting', done);
  const end = faults.inject({
    service: 'dynamodb',
    operation: 'UpdateItem',
    kind: 'throttled',
    callers: 'everyone',
  });
  await expect(noting('a')).rejects.toThrow('Failed to update success record');
  expect(faults.counts.throttled).toBe(5);
  end();
});

describe('an effect that a replay is to have again', () => {
  const MILLISECONDS_LEFT = 2_000;

  /** An effect that counts how often it happened. */
  function counted(name: string) {
    let times = 0;
    const effect = async (): Promise<EffectOutcome> => {
      times += 1;
      return 'Processed';
    };
    const send = idempotent(name, effect);
    return {
      deliver: () => send({ eventId: 'e', replay: undefined }, endingIn(MILLISECONDS_LEFT)),
      replay: (replay: string) =>
        send({ eventId: 'e', replay: notifying(replay) }, endingIn(MILLISECONDS_LEFT)),
      times: () => times,
    };
  }

  test('happens once more for each name', async () => {
    const { deliver, replay, times } = counted('again');
    expect([
      await deliver(),
      await replay('a'),
      await replay('a'),
      await replay('b'),
      await deliver(),
    ]).toEqual(['Processed', 'Processed', 'Duplicate', 'Processed', 'Duplicate']);
    expect(times()).toBe(3);
  });

  test('and that had never happened is the ordinary one, too', async () => {
    const { deliver, replay, times } = counted('never');
    expect([await replay('a'), await deliver()]).toEqual(['Processed', 'Duplicate']);
    expect(times()).toBe(1);
  });

  test('is tried again where it failed', async () => {
    let fails = true;
    const effect = async (): Promise<EffectOutcome> => {
      if (fails) throw new Error('SNS is down');
      return 'Processed';
    };
    await within('failing-again', done)('e');
    const send = idempotent('failing-again', effect);
    const replay = () => send({ eventId: 'e', replay: notifying('a') }, endingIn(30_000));
    await expect(replay()).rejects.toThrow('SNS is down');
    fails = false;
    expect([await replay(), await replay()]).toEqual(['Processed', 'Duplicate']);
  });

  test('is repeated only where its note could not be written, and then as often', async () => {
    const { deliver, replay, times } = counted('unnoted');
    await deliver();
    const end = faults.inject({
      service: 'dynamodb',
      operation: 'UpdateItem',
      kind: 'throttled',
      callers: 'everyone',
    });
    await expect(replay('a')).rejects.toThrow('Failed to update success record');
    end();
    expect(await eventually(() => replay('a').catch(() => undefined))).toBe('Processed');
    expect(await replay('a')).toBe('Duplicate');
    expect(times()).toBe(3);
  });
});
