import { describe, expect, test } from '@jest/globals';
import {
  deadCount,
  queuesOf,
  redriveAll,
  redriveGroup,
} from '../../../../tools/console/page/dead-letters/redrive.ts';

const at = { firstAt: '2026-01-01T00:00:00.000Z', lastAt: '2026-01-02T00:00:00.000Z' };
const schema = {
  reason: 'data.girl_id: expected a string',
  count: 3,
  ...at,
  messages: [
    { queue: 'girl.deleted', id: 'a' },
    { queue: 'girl.created', id: 'b' },
    { queue: 'girl.created', id: 'c' },
  ],
} as const;
const other = {
  reason: 'Gave up',
  count: 1,
  ...at,
  messages: [{ queue: 'girl.created', id: 'd' }],
} as const;

describe('redriving dead letters', () => {
  test('a group goes queue by queue, with its own messages only', () => {
    expect(redriveGroup(schema)).toEqual([
      { kind: 'redrive', queue: 'girl.created', ids: ['b', 'c'] },
      { kind: 'redrive', queue: 'girl.deleted', ids: ['a'] },
    ]);
  });

  test('all of them go by whole queues, each once', () => {
    expect(redriveAll([schema, other])).toEqual([
      { kind: 'redrive', queue: 'girl.created' },
      { kind: 'redrive', queue: 'girl.deleted' },
    ]);
  });

  test('a group says which queues it is of, the fullest first', () => {
    expect(queuesOf(schema)).toEqual([
      { queue: 'girl.created', count: 2 },
      { queue: 'girl.deleted', count: 1 },
    ]);
    expect(deadCount([schema, other])).toBe(4);
  });
});
