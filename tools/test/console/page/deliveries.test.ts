import { describe, expect, test } from '@jest/globals';
import { redrivable } from '../../../console/page/deliveries/checked-bar.tsx';
import {
  countNew,
  freeze,
  freezeList,
  frozen,
  olderThan,
  shownRows,
} from '../../../console/page/deliveries/delivery-rows.ts';
import { matches, readFilter, readSearch } from '../../../console/page/deliveries/list-filter.ts';
import { outcomeOf } from '../../../console/page/deliveries/outcomes.ts';
import { diffItems, topicTitle } from '../../../console/page/detail/effects.tsx';
import { readLogLine } from '../../../console/page/detail/exchange.tsx';
import { timelineRows } from '../../../console/page/detail/timeline.tsx';
import { route } from '../../../console/page/route.ts';
import {
  deliveryOf,
  newestFirst,
  queues,
  rows,
  takeReady,
  takeReset,
  takeRows,
} from '../../../console/page/store.ts';
import type { Delivery, HistoryStep } from '../../../stage/history/history.ts';

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

test('deliveries are listed newest first, and those of the same time by their id', () => {
  const rows = [
    delivery({ id: 'b' }),
    delivery({ id: 'c' }),
    delivery({ id: 'a', receivedAt: '2026-11-21T11:50:00.001Z' }),
  ];
  expect(newestFirst(rows).map(({ id }) => id)).toEqual(['a', 'c', 'b']);
});

test('a row that waits is paused while its event is, but not before its event source is off', () => {
  const waiting = delivery({ id: 'waiting', state: 'queued' });
  const others = [
    delivery({ id: 'done' }),
    delivery({ id: 'other', state: 'queued', event: 'girl.created' }),
  ];
  takeReset();
  takeRows({ put: [waiting, delivery({ id: 'again', state: 'retrying' }), ...others], removed: [] });
  takeReady({ total: 4 }, '');
  const pause = (change: object) => {
    const depth = { visible: 1, inFlight: 0 };
    const queue = { event: 'shop.updated' as const, ...depth, dead: depth, ...change };
    queues.value = { ...queues.value, value: { events: [queue], receiverQueues: [], problems: [] } };
    return rows.value.all.flatMap(({ id, state }) => (state === 'paused' ? [id] : []));
  };
  expect(pause({})).toEqual([]);
  expect(pause({ paused: { by: 'mara' }, pausing: true })).toEqual([]);
  expect(pause({ paused: { by: 'mara' } })).toEqual(['waiting', 'again']);
  expect(deliveryOf('waiting')).toEqual({ ...waiting, state: 'paused' });
  expect(pause({})).toEqual([]);
});

test('a list is not frozen with the rows of the search before', () => {
  const receive = (id: string, search: string) => {
    takeReset();
    takeRows({ put: [delivery({ id })], removed: [] });
    takeReady({ total: 1 }, search);
  };
  receive('of-all', '');
  route.value = { view: 'deliveries', path: [], query: { search: 'next' } };
  freeze();
  expect(frozen.value).toBeUndefined();
  receive('of-next', 'next');
  expect(shownRows.value.map(({ id }) => id)).toEqual(['of-next']);
  freeze();
  expect(frozen.value?.rows).toHaveLength(1);
  route.value = { view: 'deliveries', path: [], query: {} };
});

describe('a filter', () => {
  const isMatch = (query: Record<string, string>, now = NOW) => {
    const filter = readFilter(query);
    if (typeof filter === 'string') throw new Error(filter);
    return matches(delivery(), filter, now);
  };

  test.each([
    {},
    { search: 'event:updated' },
    { outcome: 'done' },
    { search: 'shop:shop-10 any text' },
    { since: '15m' },
    { since: '2026-11-21T11:50:00Z' },
  ])('matches a delivery: %j', (query) => {
    expect(isMatch(query)).toBe(true);
  });

  test.each([
    { search: 'event:girl' },
    { outcome: 'in-progress' },
    { search: 'any shop:2002' },
    { since: '5m' },
  ])('does not match it: %j', (query) => {
    expect(isMatch(query)).toBe(false);
  });

  test('of the last 15 minutes moves with time', () => {
    expect(isMatch({ since: '15m' }, NOW + 6 * 60_000)).toBe(false);
  });

  test('searches payloads for the text beside its words', () => {
    expect(readSearch(' shop:A  some "text":1 event:girl ')).toEqual({
      text: 'some "text":1',
      event: 'girl',
      shop: 'a',
    });
  });

  test.each([
    { query: { outcome: 'bogus' }, problem: /^“bogus” is not an outcome/ },
    { query: { since: 'yesterday' }, problem: /^“yesterday” is not a time/ },
    { query: { since: '2026-13-45' }, problem: /^“2026-13-45” is not a time/ },
  ])('that is invalid is named: $query', ({ query, problem }) => {
    expect(readFilter(query)).toMatch(problem);
  });
});

test.each([
  { state: 'dead-letter', outcome: 'needs-you' },
  { state: 'invalid', outcome: 'needs-you' },
  { state: 'parked', outcome: 'needs-you' },
  { state: 'rejected', outcome: 'rejected' },
  { state: 'failed', outcome: 'rejected' },
  { state: 'retrying', outcome: 'in-progress' },
  { state: 'skipped', outcome: 'done' },
] as const)('the outcome of $state is $outcome', ({ state, outcome }) => {
  expect(outcomeOf(state)).toBe(outcome);
});

test('events on a queue for review can be redriven, each once, if they have a consumer', () => {
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

describe('a frozen list', () => {
  const rows = (ids: string) => [...ids].map((id) => delivery({ id }));
  const frozen = freezeList(rows('dcb'));

  test('counts deliveries that are newer than all of it', () => {
    expect(countNew(frozen, rows('fedcb'))).toBe(2);
  });

  test('continues with deliveries that are older than all of it', () => {
    expect(olderThan(frozen, rows('edcba0'))).toEqual(rows('a0'));
  });

  test('does not move if rows appear between its own, or disappear', () => {
    expect(olderThan(frozen, rows('dxb'))).toEqual([]);
    expect(countNew(frozen, rows('dxb'))).toBe(0);
  });

  test('ends if its filter matches none of its rows', () => {
    expect(olderThan(frozen, rows('zy'))).toEqual([]);
  });
});

describe('the difference between two items', () => {
  test('has added, removed, changed and unchanged attributes', () => {
    const before = { shop_id: 's', name: 'old', gone: 1 };
    expect(diffItems(before, { shop_id: 's', name: 'new', more: [1] })).toEqual([
      { name: 'shop_id', kind: 'same', before: '"s"', after: '"s"' },
      { name: 'name', kind: 'changed', before: '"old"', after: '"new"' },
      { name: 'more', kind: 'added', after: '[1]' },
      { name: 'gone', kind: 'removed', before: '1' },
    ]);
  });

  test('is the whole item if one of them is missing', () => {
    expect(diffItems(null, { a: 1 })).toEqual([{ name: 'a', kind: 'added', after: '1' }]);
    expect(diffItems({ a: 1 }, null)).toEqual([{ name: 'a', kind: 'removed', before: '1' }]);
  });

  test('ignores the order of keys, but distinguishes a number from its text', () => {
    const after = { x: { b: { d: 3, c: 2 }, a: 1 }, y: '1' };
    expect(diffItems({ x: { a: 1, b: { c: 2, d: 3 } }, y: 1 }, after)).toMatchObject([
      { kind: 'same' },
      { kind: 'changed' },
    ]);
  });

  test('has attributes of any name', () => {
    const names = diffItems({}, JSON.parse('{"__proto__":1,"constructor":2}')).map(({ name }) => name);
    expect(names).toEqual(['__proto__', 'constructor']);
  });
});

test('a notification is named after its topic', () => {
  expect(topicTitle('ReviewTopicArn')).toBe('Review notification');
});

describe('a timeline', () => {
  const noon = new Date(2026, 10, 21, 12);
  const step = (seconds: number, change: Partial<HistoryStep> = {}): HistoryStep => ({
    kind: 'failed',
    at: new Date(noon.getTime() + seconds * 1000).toISOString(),
    ...change,
  });

  test('counts from the end of the previous step, which may be several equal attempts', () => {
    const { at: until } = step(5);
    const steps = [step(0), step(0.012), step(1, { attempts: 3, until }), step(7), step(6)];
    expect(timelineRows(steps, noon).map(({ gap }) => gap)).toEqual(['', '+12 ms', '+988 ms', '+2 s', '']);
  });

  test('hides steps in the middle, and counts from the last of them', () => {
    const steps = Array.from({ length: 150 }, (_, second) => step(second));
    const rows = timelineRows(steps, noon);
    expect(rows).toHaveLength(120);
    expect(rows.filter(({ hidden }) => hidden > 0)).toEqual([
      { step: steps[90], gap: '+1 s', day: undefined, hidden: 30 },
    ]);
  });

  test.each([
    { now: noon, days: [undefined, 'Sunday, 22 November 2026', undefined] },
    {
      now: new Date(2026, 10, 22),
      days: ['Saturday, 21 November 2026', 'Sunday, 22 November 2026', undefined],
    },
  ])('has the day above the first step of each day: $days', ({ now, days }) => {
    const hours = [11, 13, 14].map((hour) => step(hour * 3600));
    expect(timelineRows(hours, now).map(({ day }) => day)).toEqual(days);
  });
});

test.each([
  {
    text: '{"level":"INFO","message":"Processed","timestamp":"t","eventId":"e","attempt":1,"cause":{"error":"E"}}',
    line: { level: 'INFO', message: 'Processed', fields: 'attempt=1  cause={"error":"E"}' },
  },
  { text: 'START RequestId: 1', line: { level: '', message: 'START RequestId: 1', fields: '' } },
  { text: '{"cut":', line: { level: '', message: '{"cut":', fields: '' } },
])('the log line $text is shown in parts', ({ text, line }) => {
  expect(readLogLine(text)).toEqual(line);
});
