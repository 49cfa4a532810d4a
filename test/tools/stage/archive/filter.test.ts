import { describe, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../../lambda/hash.ts';
import { matches, type RecordFilter, recordFilter } from '../../../../tools/stage/archive/filter.ts';
import { archived } from './support.ts';

const record = archived({ eventId: 'abcdef0123456789', requestId: 'request-1' });

test.each<[boolean, RecordFilter]>([
  [true, {}],
  [true, { events: ['girl.created', 'shop.updated'] }],
  [false, { events: ['girl.created'] }],
  [true, { since: new Date(record.settledAt) }],
  [false, { until: new Date(record.settledAt) }],
  [false, { since: new Date(Date.parse(record.settledAt) + 1) }],
  [true, { until: new Date(Date.parse(record.settledAt) + 1) }],
  [true, { shop: 'shop-1' }],
  [false, { shop: 'shop' }],
  [true, { ids: ['none', 'abcdef01'] }],
  [true, { ids: ['request-1'] }],
  [false, { ids: ['request'] }],
  [false, { ids: ['none'] }],
  [true, { outcomes: ['Stale', 'Processed'] }],
  [false, { outcomes: ['Stale'] }],
])('it is %s that a record is admitted by %j', (expected, filter) => {
  expect(matches(filter, record)).toBe(expected);
});

test('a shop whose id is too long for a key is found by its id', () => {
  const shop = 's'.repeat(2_049);
  const record = archived({ shopId: `sha256:${sha256Hex(shop)}` });
  expect(matches({ shop }, record)).toBe(true);
  expect(matches({ shop: `${shop}s` }, record)).toBe(false);
});

describe('the filter of typed options', () => {
  const nothing = {
    events: undefined,
    since: undefined,
    until: undefined,
    shop: undefined,
    ids: undefined,
    outcomes: undefined,
  };

  test('has what was typed, and nothing else', () => {
    expect(recordFilter({ ...nothing, events: [], shop: 'shop-1' })).toEqual({ shop: 'shop-1' });
  });

  test.each(['2026-01-31T09:00:00Z', '2026-01-31T08:59:59Z'])('whose window ends at %s is refused', (end) => {
    const window = { since: new Date('2026-01-31T09:00:00Z'), until: new Date(end) };
    expect(() => recordFilter({ ...nothing, ...window })).toThrow(
      /^--until must be after --since: .* is not after 2026-01-31T09:00:00.000Z$/,
    );
  });
});
