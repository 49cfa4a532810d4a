import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countNew, holdList, rowAfterKey } from '../../../../tools/console/page/deliveries/held-list.ts';
import { DeliveryIndex } from '../../../../tools/console/page/stream/delivery-index.ts';
import type { Delivery } from '../../../../tools/stage/history/history.ts';

const delivery = (id: string, second: number, change: Partial<Delivery> = {}): Delivery => ({
  id,
  receivedAt: new Date(Date.UTC(2026, 0, 31) + second * 1000).toISOString(),
  state: 'queued',
  attempts: 0,
  ...change,
});

describe('deliveries of the stream', () => {
  test('stand with the newest first, in whatever order they come', () => {
    const index = new DeliveryIndex();
    index.put([delivery('b', 2), delivery('a', 1)]);
    index.put([delivery('d', 4), delivery('c', 3)]);
    expect(index.ids()).toEqual(['d', 'c', 'b', 'a']);
  });

  test('change in their place', () => {
    const index = new DeliveryIndex();
    index.put([delivery('a', 1), delivery('b', 2)]);
    index.put([delivery('a', 1, { state: 'processed' })]);
    expect(index.ids()).toEqual(['b', 'a']);
    expect(index.get('a')?.state).toBe('processed');
  });

  test('move where the time of their receipt becomes exact', () => {
    const index = new DeliveryIndex();
    index.put([delivery('a', 1), delivery('b', 2)]);
    index.put([delivery('a', 3)]);
    expect(index.ids()).toEqual(['a', 'b']);
  });

  test('are what was put and not removed, sorted', () => {
    const command = fc.oneof(
      fc.record({ put: fc.array(fc.tuple(fc.nat(8), fc.nat(5)), { maxLength: 5 }) }),
      fc.record({ remove: fc.array(fc.nat(8), { maxLength: 3 }) }),
      fc.constant({ look: true as const }),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
        const index = new DeliveryIndex();
        const model = new Map<string, Delivery>();
        for (const one of commands) {
          if ('put' in one) {
            const put = one.put.map(([id, second]) => delivery(String(id), second));
            index.put(put);
            for (const each of put) model.set(each.id, each);
          } else if ('remove' in one) {
            index.remove(one.remove.map(String));
            for (const id of one.remove) model.delete(String(id));
          } else index.ids();
        }
        const expected = [...model.values()]
          .sort((a, b) => b.receivedAt.localeCompare(a.receivedAt) || (a.id < b.id ? 1 : -1))
          .map(({ id }) => id);
        expect(index.ids()).toEqual(expected);
        expect(index.size).toBe(model.size);
      }),
    );
  });
});

describe('a list that holds still', () => {
  test('counts what is newer than all that it has', () => {
    const held = holdList([delivery('b', 2), delivery('a', 1)]);
    expect(countNew(held, ['d', 'c', 'b', 'a'])).toBe(2);
    expect(countNew(held, ['b', 'a'])).toBe(0);
  });

  test('counts all where nothing of it is left', () => {
    expect(countNew(holdList([delivery('a', 1)]), ['c', 'b'])).toBe(2);
  });

  test.each([
    ['j', -1, 0],
    ['j', 3, 4],
    ['ArrowDown', 9, 9],
    ['k', -1, 0],
    ['k', 3, 2],
    ['ArrowUp', 0, 0],
    ['PageDown', 2, 7],
    ['PageUp', 2, 0],
    ['Home', 5, 0],
    ['End', 5, 9],
    ['x', 5, undefined],
  ])('is gone through by %s from %d to %d', (key, from, to) => {
    expect(rowAfterKey(key, from, 10, 5)).toBe(to);
  });

  test('goes nowhere where it is empty', () => {
    expect(rowAfterKey('j', -1, 0, 5)).toBeUndefined();
  });
});
