import { describe, expect, test } from '@jest/globals';
import { REPLAY_NAME } from '../../../../lambda/queue/replay.ts';
import {
  emptyForm,
  formProblems,
  isPlanOf,
  replayAction,
} from '../../../../tools/console/page/replay/replay-form.ts';
import { time } from '../../../../tools/terminal/options.ts';

describe('the form of a replay', () => {
  test('begins as something that can be planned', () => {
    expect(formProblems(emptyForm)).toEqual({});
    expect(replayAction(emptyForm, true)).toEqual({
      kind: 'replay',
      dryRun: true,
      events: [],
      since: '24h',
    });
  });

  test('hands on all that is filled in, ids by line, comma or space', () => {
    const form = {
      ...emptyForm,
      events: ['review.posted'] as const,
      since: ' 2026-01-31 ',
      until: '3h',
      shop: ' shop-1 ',
      ids: 'one, two\nthree  four,',
      mode: 'repair' as const,
      notify: true,
      rate: '7',
      name: 'after-the-outage',
    };
    expect(replayAction(form, false)).toEqual({
      kind: 'replay',
      dryRun: false,
      events: ['review.posted'],
      since: '2026-01-31',
      until: '3h',
      shop: 'shop-1',
      ids: ['one', 'two', 'three', 'four'],
      mode: 'repair',
      notify: true,
      rate: 7,
      name: 'after-the-outage',
    });
  });

  test('needs a beginning, unless it goes on with a replay by its name', () => {
    expect(formProblems({ ...emptyForm, since: ' ' })).toEqual({ since: 'Say from when' });
    expect(formProblems({ ...emptyForm, since: '', name: 'begun-before' })).toEqual({});
  });

  test.each([
    '90m',
    '3h',
    '7d',
    '2026-01-31',
    '2026-01-31T09:00Z',
    '2026-01-31T09:00:00.5+09:00',
    '0h',
    '3w',
    'yesterday',
    '2026-1-31',
    '2026-01-31T09:00',
    '2026-01-31 09:00Z',
  ])('takes the time %j where the command does', (since) => {
    const takes = () => {
      try {
        return !Number.isNaN(time(since).getTime());
      } catch {
        return false;
      }
    };
    expect(formProblems({ ...emptyForm, since }).since === undefined).toBe(takes());
  });

  test.each(['a', 'after-the-outage', '-a', 'A', 'a_b', 'a'.repeat(63), 'a'.repeat(64)])(
    'takes the name %j where the command does',
    (name) => expect(formProblems({ ...emptyForm, name }).name === undefined).toBe(REPLAY_NAME.test(name)),
  );

  test.each(['', '0', '1.5', '10001', '-1', '1e3'])('refuses the rate %j', (rate) =>
    expect(formProblems({ ...emptyForm, rate })).toEqual({ rate: 'A whole number from 1 to 10,000' }),
  );

  test('knows whether a plan is its own', () => {
    expect(isPlanOf(emptyForm, { ...emptyForm, since: ' 24h' })).toBe(true);
    expect(isPlanOf(emptyForm, { ...emptyForm, since: '25h' })).toBe(false);
    expect(isPlanOf(emptyForm, { ...emptyForm, notify: true })).toBe(false);
  });
});
