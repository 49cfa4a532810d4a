import { table } from '../../terminal/layout.ts';
import type { Operation } from '../operation.ts';
import type { PayloadFilter } from '../payload-filter.ts';
import { eventCount } from './copies.ts';
import { removedQueues, waitingQueues } from './queue.ts';
import { filterWords, gaps, selectMessages } from './selected-messages.ts';

/**
 * Prints how many messages match on each queue that nothing consumes. On the others, receiving a message would count as
 * an attempt.
 */
export async function dlqMatches(operation: Operation, filter: PayloadFilter, json: boolean): Promise<void> {
  const { stack, printLine, width } = operation;
  const all = [...waitingQueues(stack), ...(await removedQueues(stack))];
  const searched = await Promise.all(
    all.map(async (queue) => {
      const selection = await selectMessages(operation, queue, filter, () => undefined);
      const { selected } = selection;
      const oldest = selected.map(({ at }) => at).toSorted()[0];
      const counts = { messages: selected.length, events: eventCount(selected), oldest };
      return { queue: queue.name, ...counts, gaps: gaps(queue, selection) };
    }),
  );
  if (json) {
    printLine(JSON.stringify({ stack: stack.title, queues: searched }, undefined, 2));
    return;
  }
  const found = searched.filter(({ messages }) => messages > 0);
  const columns = ['QUEUE', 'MESSAGES', 'EVENTS', 'OLDEST'].map((heading) => ({ heading }));
  const rows = found.map(({ queue, ...counts }) => [
    queue,
    String(counts.messages),
    String(counts.events),
    counts.oldest ?? '',
  ]);
  const [first] = found;
  const lines = [
    ...(first ? table(columns, rows, width) : ['No message matches.']),
    ...searched.flatMap((queue) => queue.gaps),
    'Only queues without a consumer were searched. trace also finds what is on the others.',
    ...(first ? [`See why: ${stack.command(`show ${first.queue}${filterWords(filter)}`)}`] : []),
  ];
  for (const line of lines) printLine(line);
}
