import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { FaultsInfo, QueuesInfo } from '../../console/api.ts';
import { PageUpdates } from '../../console/server/page-updates.ts';
import { QueueWatch } from '../../console/server/queue-watch.ts';
import { HistoryStore } from '../../stage/history/store.ts';

const NO_QUEUES: QueuesInfo = { events: [], receiverQueues: [], problems: [] };

let store: HistoryStore;

beforeEach(() => {
  jest.useFakeTimers();
  store = new HistoryStore();
});
afterEach(() => {
  jest.useRealTimers();
});

/** A watch of fake queues. It counts reads, and records the updates for pages. */
function watched({ isLocal }: { isLocal: boolean }) {
  const updates = new PageUpdates();
  const seen = { readings: 0, sent: [] as string[], queues: NO_QUEUES, seconds: 0, errors: [] as unknown[] };
  let faults: FaultsInfo = { active: [], functions: [] };
  updates.subscribe((_subject, { event }) => {
    seen.sent.push(event);
  });
  const watch = new QueueWatch({
    updates,
    store,
    readQueues: async () => {
      seen.readings += 1;
      const { queues, seconds } = seen;
      if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, seconds * SECOND));
      return queues;
    },
    readFaults: isLocal ? () => faults : undefined,
    onError: (error) => seen.errors.push(error),
  });
  const hit = (hits: number) => {
    faults = { ...faults, active: [{ id: '1', service: 'sqs', kind: 'down', hits }] };
  };
  return { updates, watch, seen, hit };
}

const changeStore = () =>
  store.add({ kind: 'effect', at: Date.now(), requestId: 'r', eventId: 'e', effect: NOTIFICATION });

const NOTIFICATION = {
  kind: 'notification',
  topic: 't',
  at: '2026-01-31T09:00:00.000Z',
  subject: 's',
  texts: {},
} as const;

const SECOND = 1_000;

/** Lets time pass. Promises resolve meanwhile. */
const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * SECOND);

describe('the queues of a stage', () => {
  test('are read once for all pages, every minute, and not without a page', async () => {
    const { watch, seen } = watched({ isLocal: false });
    await pass(120);
    expect(seen.readings).toBe(0);
    const pages = [watch.open(), watch.open()];
    await pass(1);
    expect(seen.readings).toBe(1);
    changeStore();
    await pass(58);
    expect(seen.readings).toBe(1);
    await pass(61);
    expect(seen.readings).toBe(3);
    for (const close of pages) close();
    await pass(600);
    expect(seen.readings).toBe(3);
  });

  test('are not read again when a page is loaded again within a minute', async () => {
    const { watch, seen, updates } = watched({ isLocal: false });
    watch.open()();
    watch.open();
    await pass(0);
    expect(seen.readings).toBe(1);
    watch.open()();
    expect(updates.current().has('queues')).toBe(true);
    await pass(1);
    expect(seen.readings).toBe(1);
  });

  test('that are read at the same time arrive in the order of their reads', async () => {
    const { watch, seen, updates } = watched({ isLocal: false });
    seen.seconds = 10;
    const slow = watch.read();
    await pass(1);
    seen.seconds = 0;
    seen.queues = { ...NO_QUEUES, problems: ['newer'] };
    const newer = watch.read();
    await pass(10);
    await Promise.all([slow, newer]);
    expect(updates.current().get('queues')).toMatchObject({ data: { problems: ['newer'] } });
  });

  test('are read once after commands that changed them', async () => {
    const { watch, seen } = watched({ isLocal: false });
    watch.open();
    await pass(10);
    expect(seen.readings).toBe(1);
    for (let count = 0; count < 3; count += 1) watch.change();
    await pass(10);
    expect(seen.readings).toBe(2);
  });
});

describe('the queues of the local stack', () => {
  test('are read when something happens, at most every two seconds, and once more when they have settled', async () => {
    const { watch, seen } = watched({ isLocal: true });
    watch.open();
    await pass(5);
    expect(seen.readings).toBe(2);
    for (let round = 0; round < 10; round += 1) {
      changeStore();
      await pass(0.2);
    }
    await pass(3);
    const { readings } = seen;
    expect(readings).toBeGreaterThanOrEqual(3);
    expect(readings).toBeLessThanOrEqual(6);
    await pass(4);
    expect(seen.readings).toBe(readings);
  });

  test('are sent when they have changed, or when something has happened', async () => {
    const { watch, seen } = watched({ isLocal: true });
    watch.open();
    await pass(60);
    expect(seen.sent).toEqual(['faults', 'queues']);
    // As if a pause in a terminal had changed the queues.
    seen.queues = { ...NO_QUEUES, problems: ['x'] };
    await pass(10);
    expect(seen.sent).toEqual(['faults', 'queues', 'queues']);
    changeStore();
    await pass(10);
    expect(seen.sent).toEqual(['faults', 'queues', 'queues', 'queues']);
  });
});

test('faults are sent when they begin or end, and the calls that they hit when something happens', async () => {
  const { watch, seen, hit } = watched({ isLocal: true });
  watch.open();
  await pass(1);
  hit(0);
  watch.sendFaults();
  watch.sendFaults();
  expect(seen.sent).toEqual(['faults', 'queues', 'faults']);
  hit(1);
  changeStore();
  await pass(3);
  expect(seen.sent.filter((event) => event === 'faults')).toHaveLength(3);
});
