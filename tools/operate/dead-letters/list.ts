import { duration, table } from '../../terminal/text.ts';
import type { Operation } from './operation.ts';
import { queueState, type WaitingQueue, waitingQueues } from './queue.ts';
import { walk } from './walk.ts';

/** Messages that are looked at for their age. SQS gives them in no order, so of more the oldest is a guess. */
const LOOKED_AT = 100;

/** `list`: what waits on every queue that nothing consumes. */
export async function list(operation: Operation): Promise<void> {
  const { stack, say } = operation;
  const queues = waitingQueues(stack);
  const rows = await Promise.all(queues.map((queue) => describe(operation, queue)));
  say(`Waiting in ${stack.title}:`);
  say('');
  for (const line of table(
    ['queue', 'messages', 'in flight', 'oldest'],
    rows.map(({ cells }) => cells),
  )) {
    say(line);
  }
  say('');
  const first = rows.find(({ waiting }) => waiting);
  say(
    first
      ? `Why they are there: ${stack.command(`show ${first.cells[0]}`)}`
      : 'Nothing waits. (SQS counts up to a minute late.)',
  );
}

async function describe({ stack, signal }: Operation, queue: WaitingQueue) {
  const { visible, inFlight } = await queueState(stack.sqs, queue.url);
  const oldest = visible > 0 ? await ageOfOldest() : '–';
  return {
    waiting: visible + inFlight > 0,
    cells: [queue.name, String(visible), String(inFlight), oldest] as const,
  };

  async function ageOfOldest(): Promise<string> {
    let sent = Number.POSITIVE_INFINITY;
    const { limited } = await walk(stack, queue.url, { signal, limit: LOOKED_AT }, async ({ sentAt }) => {
      sent = Math.min(sent, sentAt.getTime());
      return 'kept';
    });
    if (sent === Number.POSITIVE_INFINITY) return 'unknown';
    return `${limited ? 'at least ' : ''}${duration(Date.now() - sent)}`;
  }
}
