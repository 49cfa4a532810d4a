import { describe, expect, test } from '@jest/globals';
import { placeParts } from '../../../../tools/console/client/detail/place-parts.ts';
import { gapText, groupSteps, stepParts } from '../../../../tools/console/client/detail/step-parts.ts';
import type { Step } from '../../../../tools/stage/history/timeline.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 31, 9, 0, seconds)).toISOString();
const now = new Date(at(10));
const origin = { kind: 'delivery' } as const;
const received: Step = { what: 'received', at: at(0), requestId: 'r', exact: true };
const failed: Step = {
  what: 'failed',
  at: at(1),
  origin: { kind: 'redriven' },
  attempt: 2,
  error: 'SnsException: a: b',
  retryInSeconds: 64,
  nextAttemptAt: at(65),
};

describe('a step', () => {
  test('that failed says what failed apart from when it is tried again', () => {
    expect(stepParts(failed, [failed], now)).toEqual({
      word: 'failed',
      tone: 'warning',
      facts: 'attempt 2 (redriven)',
      error: 'SnsException: a: b',
      next: expect.stringMatching(/^Is to be tried again at .*, after 1 min 4 s$/),
    });
  });

  test('says how long after the one before it was', () => {
    expect(gapText(failed, received)).toBe('+1 s');
    expect(gapText({ ...failed, at: new Date(Date.parse(at(0)) + 12).toISOString() }, received)).toBe(
      '+12 ms',
    );
    expect(gapText(received, undefined)).toBe('');
    expect(gapText(received, received)).toBe('');
  });
});

describe('steps', () => {
  test('are grouped by what began them', () => {
    const effect: Step = { what: 'effect', at: at(2), origin, attempt: 1, outcome: 'Processed' };
    const replayed: Step = { ...effect, at: at(4), origin: { kind: 'replay', name: 'after-outage' } };
    const groups = groupSteps([received, effect, { ...received, at: at(3) }, replayed]);
    expect(groups.map(({ title, steps }) => [title, steps.length])).toEqual([
      [undefined, 2],
      ['Delivered again', 1],
      ['Replay after-outage', 1],
    ]);
  });
});

describe('the place of an event', () => {
  test('that backs off says when it is tried again', () => {
    expect(
      placeParts({ state: 'backing off', queue: 'shop.updated', since: at(0), nextAttemptAt: at(40) }, now),
    ).toMatchObject({
      tone: 'warning',
      title: expect.stringMatching(/^Tried again in 30 s, at /),
      queue: 'shop.updated',
    });
  });

  test('that is paused says by whom and why', () => {
    const paused = { by: 'operator', reason: 'SNS is down', since: at(4) };
    expect(placeParts({ state: 'waiting', queue: 'shop.updated', since: at(0), paused }, now).detail).toBe(
      'The event is paused for 6 s by operator: SNS is down.',
    );
  });

  test('of a dead letter names the queue where it can be redriven, and for how long', () => {
    expect(
      placeParts({ state: 'dead letter', queue: 'shop.updated', since: at(0), until: at(70) }, now),
    ).toEqual({
      tone: 'bad',
      title: 'On the dead-letter queue of shop.updated',
      detail: 'SQS keeps it for 1 min more.',
      queue: 'dead:shop.updated',
    });
  });

  test('is not a queue that holds nothing', () => {
    expect(
      placeParts({ state: 'parked', queue: 'unrouted', since: at(0), queueHolds: 0 }, now).queue,
    ).toBeUndefined();
  });
});
