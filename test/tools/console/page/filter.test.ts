import { describe, expect, test } from '@jest/globals';
import { type Filter, matches, readFilter } from '../../../../tools/console/page/deliveries/filter.ts';
import { countOutcomes, rateText } from '../../../../tools/console/page/deliveries/outcomes.ts';
import { redrivable } from '../../../../tools/console/page/deliveries/redrive.ts';
import type { Delivery } from '../../../../tools/stage/history/history.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

const delivery = (change: Partial<Delivery> = {}): Delivery => ({
  id: 'a',
  event: 'shop.updated',
  shopId: 'Shop-1001',
  receivedAt: '2026-11-21T11:50:00.000Z',
  state: 'processed',
  attempts: 1,
  ...change,
});

function filterOf(query: Record<string, string>): Filter {
  const filter = readFilter(query);
  if (typeof filter === 'string') throw new Error(filter);
  return filter;
}

test.each<[query: Record<string, string>, admits: boolean]>([
  [{}, true],
  [{ event: 'shop.updated' }, true],
  [{ event: 'shop' }, false],
  [{ state: 'queued,processed' }, true],
  [{ state: 'queued' }, false],
  [{ shop: 'shop-10' }, true],
  [{ shop: '2002' }, false],
  [{ since: '15m' }, true],
  [{ since: '5m' }, false],
  [{ since: '2026-11-21T11:50:00Z' }, true],
  [{ until: '2026-11-21T11:50:00Z' }, false],
  [{ since: '2026-11-21T11:00:00Z', until: '2026-11-21T11:51:00Z' }, true],
])('the filter %j admits it: %s', (query, admits) => {
  expect(matches(delivery(), filterOf(query), NOW)).toBe(admits);
});

test('the last 15 minutes move with time', () => {
  const filter = filterOf({ since: '15m' });
  expect(matches(delivery(), filter, NOW + 6 * 60_000)).toBe(false);
});

test.each([
  [{ state: 'bogus' }, /^“bogus” is not a state/],
  [{ since: 'yesterday' }, /^“yesterday” is not a time/],
  [{ until: '2026-13-45' }, /^“2026-13-45” is not a time/],
  [{ since: '2026-11-21T12:00:00Z', until: '2026-11-21T11:00:00Z' }, /must be after its start/],
])('the invalid filter %j is named', (query, problem) => {
  expect(readFilter(query)).toMatch(problem);
});

describe('the strip', () => {
  const rows = [
    delivery({ id: 'c', state: 'dead-letter', receivedAt: '2026-11-21T11:59:30.000Z' }),
    delivery({ id: 'b', state: 'queued', receivedAt: '2026-11-21T11:59:10.000Z' }),
    delivery({ id: 'a' }),
  ];

  test('counts outcomes per minute, whatever states are filtered', () => {
    const { bars, step, total } = countOutcomes(rows, filterOf({ state: 'queued' }), NOW);
    expect(total).toEqual({ good: 1, warning: 1, bad: 1 });
    expect(rateText(step)).toBe('per minute');
    expect(bars).toHaveLength(30);
    expect(bars.at(-1)).toEqual({ good: 0, warning: 1, bad: 1 });
    expect(bars.at(-10)).toEqual({ good: 1, warning: 0, bad: 0 });
  });

  test.each([
    ['1h', 'per minute'],
    ['24h', 'per 15 minutes'],
    ['7d', 'per 6 hours'],
    ['90d', 'per day'],
  ])('has bars for %s %s', (since, rate) => {
    expect(rateText(countOutcomes([], filterOf({ since }), NOW).step)).toBe(rate);
  });
});

test('what is on a queue for review can be redriven, each event once, if it has a consumer', () => {
  const rows = [
    delivery({ state: 'dead-letter', eventId: 'e1' }),
    delivery({ state: 'dead-letter', eventId: 'e1' }),
    delivery({ state: 'invalid', eventId: 'e2' }),
    delivery({ state: 'parked', eventId: 'e3' }),
    delivery({ state: 'parked', event: 'shop.exploded', eventId: 'e5' }),
    delivery({ eventId: 'e4' }),
  ];
  expect([...redrivable(rows, ['shop.updated'])]).toEqual([
    ['shop.updated', ['e1']],
    ['quarantine', ['e2']],
    ['unrouted', ['e3']],
  ]);
});
