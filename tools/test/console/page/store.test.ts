import { beforeEach, describe, expect, test } from '@jest/globals';
import type { QueuesInfo, StackInfo, Task } from '../../../console/api.ts';
import { changes, putTask, setStack, takeQueues, tasks } from '../../../console/page/store.ts';

const NO_QUEUES: QueuesInfo = { events: [], receiverQueues: [], problems: [] };

const taskOf = (id: string, state: Task['state']): Task => ({
  id,
  argv: ['dlq'],
  command: 'npx hookctl dlq',
  state,
  startedAt: '2026-01-31T09:00:00.000Z',
  blocks: [],
  lines: [],
  deliveries: [],
  answers: [],
});

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
  tasks.value = [];
  changes.value = 0;
});

describe('what a view shows is loaded again', () => {
  test('not for finished tasks that a page gets when it opens', () => {
    showStack(false);
    for (let count = 0; count < 15; count += 1) putTask(taskOf(String(count), 'done'));
    expect(tasks.value).toHaveLength(15);
    expect(changes.value).toBe(0);
  });

  test('for a stage once, when the last of several tasks has ended', () => {
    showStack(false);
    for (const id of ['a', 'b']) putTask(taskOf(id, 'running'));
    putTask(taskOf('a', 'done'));
    expect(changes.value).toBe(0);
    putTask(taskOf('b', 'failed'));
    takeQueues(NO_QUEUES);
    expect(changes.value).toBe(1);
  });

  test('for the local stack when the stream sends its queues again', () => {
    showStack(true);
    takeQueues(NO_QUEUES);
    const { value } = changes;
    takeQueues(NO_QUEUES);
    expect(changes.value).toBe(value + 1);
  });
});
