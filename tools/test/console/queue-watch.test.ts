import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { QueuesInfo } from '../../console/api.ts';
import { PageUpdates } from '../../console/server/page-updates.ts';
import { QueueWatch } from '../../console/server/queue-watch.ts';
import { HistoryStore } from '../../stage/history/store.ts';

const NO_QUEUES: QueuesInfo = { queues: [], problems: [] };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A watch of fake queues. It counts reads, and records the updates for pages. */
function watched({ isLocal }: { isLocal: boolean }) {
  const updates = new PageUpdates();
  const store = new HistoryStore();
  const seen = { readings: 0, sent: [] as string[], queues: NO_QUEUES, seconds: 0 };
  updates.subscribe(({ event }) => seen.sent.push(event));
  const watch = new QueueWatch({
    updates,
    store,
    readQueues: async () => {
      seen.readings += 1;
      const { queues, seconds } = seen;
      if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, seconds * SECOND));
      return queues;
    },
    isLocal,
    onError: () => {},
  });
  const effect = { kind: 'notification', topic: 't', at: '2026-01-31T09:00:00.000Z', texts: {} } as const;
  const changeStore = () =>
    store.add({
      kind: 'effect',
      at: Date.now(),
      requestId: 'r',
      eventId: 'e',
      effect: { ...effect, subject: '' },
    });
  return { updates, watch, seen, changeStore };
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
  const { watch, seen, updates } = watched({ isLocal: false });
  seen.seconds = 10;
  void watch.read();
  await pass(1);
  seen.seconds = 0;
  seen.queues = { ...NO_QUEUES, problems: ['newer'] };
  void watch.read();
  const whenIdle = watch.idle().then(() => updates.current);
  await pass(10);
  expect(await whenIdle).toMatchObject([{ data: { problems: ['newer'] } }]);
});

test('the queues of the local stack are read when something happens, at most every two seconds, and once more', async () => {
  const { watch, seen, changeStore } = watched({ isLocal: true });
  watch.open();
  await pass(5);
  expect(seen.readings).toBe(2);
  expect(seen.sent).toEqual(['queues', 'queues']);
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
