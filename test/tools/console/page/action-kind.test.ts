import { describe, expect, test } from '@jest/globals';
import type { Action, StackInfo, Task } from '../../../../tools/console/api.ts';
import {
  asksFirst,
  endedCount,
  isSeenElsewhere,
  refusalOf,
} from '../../../../tools/console/page/tasks/action-kind.ts';

const stack = (local: boolean, readOnly = false): StackInfo => ({
  title: 'the stack',
  local,
  readOnly,
  webhookUrl: '',
  events: [],
  tables: [],
});
const plan: Action = { kind: 'replay', dryRun: true, events: [] };
const replay: Action = { kind: 'replay', dryRun: false, events: [] };
const redrive: Action = { kind: 'redrive', queue: 'shop.updated' };

describe('an action', () => {
  test('asks first of a stage, unless it changes nothing', () => {
    expect(asksFirst(stack(false), [redrive])).toBe(true);
    expect(asksFirst(stack(false), [replay])).toBe(true);
    expect(asksFirst(stack(false), [plan, redrive])).toBe(true);
    expect(asksFirst(stack(false), [plan])).toBe(false);
  });

  test('does not ask of the local stack', () => expect(asksFirst(stack(true), [redrive])).toBe(false));

  test('is refused where nothing may be changed', () => {
    expect(refusalOf(stack(false, true))).toMatch(/--read-only/);
    expect(refusalOf(stack(false))).toBeUndefined();
  });

  test('opens the tasks only where nothing else shows what it did', () => {
    expect(isSeenElsewhere(redrive)).toBe(false);
    expect(isSeenElsewhere({ kind: 'resume', event: 'shop.updated' })).toBe(false);
    expect(isSeenElsewhere({ kind: 'send', event: 'shop.updated' })).toBe(true);
    expect(isSeenElsewhere(plan)).toBe(true);
  });
});

test('tasks that have failed have ended, too', () => {
  const task = (state: Task['state']): Task => ({ id: state, command: '', state, lines: [] });
  expect(endedCount([task('running'), task('done'), task('failed')])).toBe(2);
});
