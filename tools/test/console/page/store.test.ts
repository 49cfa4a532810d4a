import { beforeEach, expect, test } from '@jest/globals';
import type { QueuesInfo, StackInfo } from '../../../console/api.ts';
import {
  changes,
  commandEnded,
  needsYouCount,
  queues,
  setStack,
  takeQueues,
} from '../../../console/page/store.ts';

const EMPTY = { visible: 0, inFlight: 0 };

const QUEUES: QueuesInfo = {
  events: [{ event: 'shop.updated', visible: 5, inFlight: 2, dead: { visible: 3, inFlight: 1 } }],
  receiverQueues: [
    { name: 'quarantine', visible: 10, inFlight: 0 },
    { name: 'unrouted', ...EMPTY },
  ],
  problems: [],
};

const showStack = (local: boolean) =>
  setStack({
    title: 'a stack',
    local,
    readOnly: false,
    startedAt: '2026-01-31T09:00:00.000Z',
    webhookUrl: 'http://localhost:3000',
    commandSuffix: '',
    events: [],
  } satisfies StackInfo);

beforeEach(() => {
  changes.value = 0;
  queues.value = { ...queues.value, value: undefined };
});

test('what a view shows of a stage is loaded again after a command, because reading costs money', () => {
  showStack(false);
  takeQueues(QUEUES);
  takeQueues(QUEUES);
  expect(changes.value).toBe(0);
  commandEnded();
  expect(changes.value).toBe(1);
});

test('what a view shows of the local stack is loaded again when the stream sends its queues again', () => {
  showStack(true);
  takeQueues(QUEUES);
  commandEnded();
  expect(changes.value).toBe(0);
  takeQueues(QUEUES);
  expect(changes.value).toBe(1);
});

test('messages on dead-letter queues, in quarantine and unrouted need somebody', () => {
  expect(needsYouCount(QUEUES)).toBe(14);
});
