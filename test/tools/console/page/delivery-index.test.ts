import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DeliveryIndex } from '../../../../tools/console/page/delivery-index.ts';
import type { Delivery } from '../../../../tools/stage/history/history.ts';

const delivery = (id: string, second: number, change: Partial<Delivery> = {}): Delivery => ({
  id,
  receivedAt: new Date(Date.UTC(2026, 0, 31) + second * 1000).toISOString(),
  state: 'queued',
  attempts: 0,
  ...change,
});

const idsOf = (index: DeliveryIndex) => index.all().map(({ id }) => id);

describe('deliveries of the stream', () => {
  test('are sorted newest first, whatever order they come in', () => {
    const index = new DeliveryIndex();
    index.put([delivery('b', 2), delivery('a', 1)]);
    index.put([delivery('d', 4), delivery('c', 3)]);
    expect(idsOf(index)).toEqual(['d', 'c', 'b', 'a']);
  });

  test('change in their place', () => {
    const index = new DeliveryIndex();
    index.put([delivery('a', 1), delivery('b', 2)]);
    index.put([delivery('a', 1, { state: 'processed' })]);
    expect(idsOf(index)).toEqual(['b', 'a']);
    expect(index.get('a')?.state).toBe('processed');
  });

  test('move if the time of their receipt changes', () => {
    const index = new DeliveryIndex();
    index.put([delivery('a', 1), delivery('b', 2)]);
    index.put([delivery('a', 3)]);
    expect(idsOf(index)).toEqual(['a', 'b']);
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
          } else index.all();
        }
        const expected = [...model.values()]
          .sort((a, b) => b.receivedAt.localeCompare(a.receivedAt) || (a.id < b.id ? 1 : -1))
          .map(({ id }) => id);
        expect(idsOf(index)).toEqual(expected);
      }),
    );
  });
});
