import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { QueuesInfo } from '../../console/api.ts';
import { QueueWatch } from '../../console/server/queue-watch.ts';
import { HistoryStore } from '../../stage/history/store.ts';

const NO_QUEUES: QueuesInfo = { queues: [], problems: [] };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A watch of fake queues. It counts reads, and records their results for pages. */
function watched({ isLocal }: { isLocal: boolean }) {
  const store = new HistoryStore();
  const seen = { readings: 0, read: [] as QueuesInfo[], queues: NO_QUEUES, seconds: 0 };
  const watch = new QueueWatch({
    store,
    readQueues: async () => {
      seen.readings += 1;
      const { queues, seconds } = seen;
      if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, seconds * SECOND));
      return queues;
    },
    onRead: (queues) => seen.read.push(queues),
    isLocal,
    closing: new AbortController().signal,
    onError: () => {},
  });
  /** Adds a delivery. */
  const changeStore = () =>
    store.add({
      kind: 'redrive',
      at: Date.now(),
      requestId: randomUUID(),
      eventId: 'e',
      event: 'shop.updated',
    });
  return { watch, seen, changeStore };
}

const SECOND = 1_000;

/** Lets time pass. Promises resolve meanwhile. */
const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * SECOND);

test('the queues of a stage are read once for all pages, every minute and after commands, and not without a page', async () => {
  const { watch, seen, changeStore } = watched({ isLocal: false });
  await pass(120);
  expect(seen.readings).toBe(0);
  const pages = [watch.open(), watch.open()];
  await pass(1);
  changeStore();
  await pass(58);
  expect(seen.readings).toBe(1);
  await pass(61);
  expect(seen.readings).toBe(3);
  await watch.read();
  await pass(10);
  expect(seen.readings).toBe(4);
  for (const close of pages) close();
  watch.open()();
  await pass(600);
  expect(seen.readings).toBe(4);
});

test('queues that are read at the same time arrive in the order of their reads', async () => {
  const { watch, seen } = watched({ isLocal: false });
  seen.seconds = 10;
  void watch.read();
  await pass(1);
  seen.seconds = 0;
  const newer = { ...NO_QUEUES, problems: ['newer'] };
  seen.queues = newer;
  void watch.read();
  const whenIdle = watch.idle().then(() => seen.read);
  await pass(10);
  expect(await whenIdle).toEqual([NO_QUEUES, newer]);
});

test('the queues of the local stack are read when something happens, at most every two seconds, and once more', async () => {
  const { watch, seen, changeStore } = watched({ isLocal: true });
  changeStore();
  await pass(1);
  watch.open();
  await pass(5);
  expect(seen.read).toHaveLength(2);
  for (let round = 0; round < 10; round += 1) {
    changeStore();
    await pass(0.2);
  }
  await pass(3);
  const { readings } = seen;
  expect(readings).toBeGreaterThanOrEqual(3);
  expect(readings).toBeLessThanOrEqual(6);
  await pass(5);
  expect(seen.readings).toBe(readings);
});
