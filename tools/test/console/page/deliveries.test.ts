import { beforeEach, describe, expect, test } from '@jest/globals';
import type { QueuesInfo, StackInfo } from '../../../console/api.ts';
import {
  countNewer,
  follow,
  newer,
  OUTCOMES,
  outcomeCount,
  outcomeOf,
  readSearch,
  shownRows,
  stop,
} from '../../../console/page/deliveries/delivery-rows.ts';
import { compareItems, outputTitle } from '../../../console/page/detail/effects.tsx';
import { splitSteps } from '../../../console/page/detail/timeline.tsx';
import { route } from '../../../console/page/route.ts';
import {
  beginRows,
  changes,
  commandEnded,
  needsYouCount,
  queues,
  rows,
  setStack,
  takeQueues,
  takeReady,
  takeRows,
} from '../../../console/page/store.ts';
import { type Delivery, type HistoryStep, states } from '../../../stage/history/history.ts';
import { gapText, stateTitle } from '../../../stage/history/state-text.ts';

const delivery = (id: string, change: Partial<Delivery> = {}): Delivery => ({
  id,
  event: 'shop.updated',
  shopId: 'Shop-1001',
  receivedAt: '2026-11-21T11:50:00.000Z',
  state: 'processed',
  attempts: 1,
  ...change,
});

const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second)).toISOString();

const depth = { visible: 0, inFlight: 0 };

const queueInfo = (change: object = {}): QueuesInfo => ({
  queues: [
    { name: 'shop.updated', work: depth, aside: { visible: 3, inFlight: 1 }, ...change },
    { name: 'quarantine', aside: { visible: 10, inFlight: 0 } },
  ],
  problems: [],
});

/** All rows of a search, as the stream sends them. */
function receive(put: readonly Delivery[], search = ''): void {
  beginRows();
  takeRows({ put, removed: [] });
  takeReady(search);
}

const show = (query: Record<string, string>) => {
  route.value = { view: 'deliveries', query };
};

const shownIds = () => shownRows.value.map(({ id }) => id);

beforeEach(() => {
  show({});
  follow();
  queues.value = undefined;
});

describe('the list', () => {
  test('is sorted newest first, and by id at the same time', () => {
    receive([delivery('b'), delivery('c'), delivery('a', { receivedAt: at(1) })]);
    expect(shownIds()).toEqual(['a', 'c', 'b']);
  });

  test('has a row that waits as paused while its event is, but not before its event source is off', () => {
    const other = delivery('other', { state: 'queued', event: 'girl.created' });
    receive([delivery('waiting', { state: 'queued' }), delivery('done'), other]);
    const paused = (change: object) => {
      queues.value = queueInfo(change);
      return rows.value.all.flatMap(({ id, state }) => (state === 'paused' ? [id] : []));
    };
    expect(paused({ paused: { by: 'mara' }, pausing: true })).toEqual([]);
    expect(paused({ paused: { by: 'mara' } })).toEqual(['waiting']);
    expect(paused({})).toEqual([]);
  });

  test('is filtered by parts of event and shop, also of those that a refused request claims, and by outcome', () => {
    const refused = { state: 'rejected', claimed: true } as const;
    receive([
      delivery('a'),
      delivery('b', refused),
      delivery('c', { shopId: 'other' }),
      delivery('d', { event: 'girl.created' }),
    ]);
    show({ search: 'event:UPDATED shop:shop-10' });
    expect(shownIds()).toEqual(['b', 'a']);
    expect(OUTCOMES.map(outcomeCount)).toEqual([1, 0, 1]);
    show({ search: 'event:updated shop:shop-10', outcome: 'Rejected' });
    expect(shownIds()).toEqual(['b']);
    show({ outcome: 'unknown' });
    expect(shownIds()).toHaveLength(4);
  });

  test('searches payloads for the text beside the words of the page', () => {
    const words = { text: 'some "text":1', event: 'girl', shop: 'a' };
    expect(readSearch(' shop:A  some "text":1 event:girl ')).toEqual(words);
  });

  test('that is stopped counts newer deliveries, and shows older ones that arrive late', () => {
    receive([delivery('b', { receivedAt: at(2) })]);
    stop();
    receive(['a', 'b', 'c'].map((id, index) => delivery(id, { receivedAt: at(index + 1) })));
    // Another process of the server sends other rows.
    setStack({ startedAt: at(9) } as StackInfo);
    expect(shownIds()).toEqual(['c', 'b', 'a']);
    const live = rows.value.all;
    expect(countNewer(live, delivery('b', { receivedAt: at(2) }))).toBe(1);
    expect(countNewer(live, delivery('gone', { receivedAt: at(2) }))).toBe(2);
    expect(countNewer(live, delivery('gone', { receivedAt: at(0) }))).toBe(3);
    expect(countNewer(live, undefined)).toBe(3);
  });

  test('is not stopped with the rows of the search before', () => {
    receive([delivery('of-all')]);
    show({ search: 'next' });
    stop();
    receive([delivery('of-next')], 'next');
    expect([newer.value, shownIds()]).toEqual([0, ['of-next']]);
  });
});

test('a delivery is rejected, in progress or done, unless it waits for somebody', () => {
  const outcomes = states.map((state) => [state, outcomeOf(state)]);
  expect(Object.fromEntries(outcomes)).toEqual({
    ...{ refused: 'Rejected', rejected: 'Rejected', failed: 'Rejected' },
    ...{ received: 'In progress', queued: 'In progress', retrying: 'In progress', paused: 'In progress' },
    ...{ unknown: 'In progress', processed: 'Done', skipped: 'Done', removed: 'Done' },
    ...{ 'dead-letter': undefined, invalid: undefined, parked: undefined },
  });
});

test('red and amber are only for what needs somebody, or is failed or stopped', () => {
  const ofTone = (wanted: string) => states.filter((state) => stateTitle(state).tone === wanted).sort();
  expect(ofTone('bad')).toEqual(['dead-letter', 'invalid', 'parked']);
  expect(ofTone('warning')).toEqual(['failed', 'paused', 'retrying', 'unknown']);
});

describe('the versions of an item', () => {
  test('have all attributes, in the order of the newest, and whether they are the same', () => {
    const before = { shop_id: 's', name: 'old', gone: 1 };
    expect(compareItems([before, { shop_id: 's', name: 'new', more: [1] }])).toEqual([
      { name: 'shop_id', values: ['"s"', '"s"'], isSame: true },
      { name: 'name', values: ['"old"', '"new"'], isSame: false },
      { name: 'more', values: [undefined, '[1]'], isSame: false },
      { name: 'gone', values: ['1', undefined], isSame: false },
    ]);
  });

  test('ignore the order of keys, distinguish a number from its text, and have attributes of any name', () => {
    const before = { x: { a: 1, b: { c: 2, d: 3 } }, y: 1 };
    const after = { x: { b: { d: 3, c: 2 }, a: 1 }, y: '1' };
    expect(compareItems([before, after]).map(({ isSame }) => isSame)).toEqual([true, false]);
    const names = compareItems([JSON.parse('{"__proto__":1,"constructor":2}')]).map(({ name }) => name);
    expect(names).toEqual(['__proto__', 'constructor']);
  });

  test('are titled by the name of their table', () => {
    expect([outputTitle('ShopCacheTable'), outputTitle('ReviewTopicArn')]).toEqual(['Shop cache', 'Review']);
  });
});

describe('a timeline', () => {
  const step = (second: number, change: Partial<HistoryStep> = {}): HistoryStep => ({
    kind: 'failed',
    at: at(second),
    ...change,
  });

  test('counts from the end of the previous step, which may be several equal attempts', () => {
    const steps = [step(0), step(1), step(2, { attempts: 3, until: at(5) }), step(7), step(6)];
    const gaps = steps.map((one, index) => gapText(one, steps[index - 1]));
    expect(gaps).toEqual(['', '+1.0 s', '+1.0 s', '+2.0 s', '']);
  });

  test('has the steps of its own request first, and folds those of others with the same body', () => {
    const [first, own, shared] = [step(0, { requestId: 'a' }), step(1, { requestId: 'b' }), step(2)];
    const third = step(3, { requestId: 'c' });
    const steps = [first, own, shared, third];
    expect(splitSteps(steps, 'b')).toEqual({ own: [own, shared], others: [first, third], requests: 2 });
  });
});

describe('what a view shows', () => {
  const showStack = (local: boolean) => {
    changes.value = 0;
    setStack({ local } as StackInfo);
  };

  test('of a stage is loaded again after a command, because reading costs money', () => {
    showStack(false);
    takeQueues(queueInfo());
    takeQueues(queueInfo());
    expect(changes.value).toBe(0);
    commandEnded();
    expect(changes.value).toBe(1);
  });

  test('of the local stack is loaded again when the stream sends its queues again', () => {
    showStack(true);
    takeQueues(queueInfo());
    commandEnded();
    expect(changes.value).toBe(0);
    takeQueues(queueInfo());
    expect(changes.value).toBe(1);
  });
});

test('messages on dead-letter queues, in quarantine and unrouted need somebody', () => {
  expect(needsYouCount(queueInfo())).toBe(14);
});
