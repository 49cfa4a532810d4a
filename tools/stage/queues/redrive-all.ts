import { setTimeout as sleep } from 'node:timers/promises';
import {
  CancelMessageMoveTaskCommand,
  ListMessageMoveTasksCommand,
  type ListMessageMoveTasksResultEntry,
  ResourceNotFoundException,
  type SQSClient,
  StartMessageMoveTaskCommand,
  UnsupportedOperation,
} from '@aws-sdk/client-sqs';
import { CommandError } from '../../terminal/command-error.ts';
import { messages } from '../../terminal/text.ts';
import type { Operation } from '../operation.ts';
import { emptiness, eventOf, queueState, type WaitingQueue } from './queue.ts';
import { hasMessage } from './received-message.ts';

/** Seconds within which a message that cannot succeed is back on the dead-letter queue. */
const FAILS_AGAIN_WITHIN_SECONDS = 1;

/**
 * Redrives a whole dead-letter queue with a move task of SQS. The task continues in SQS if this process ends. Ctrl-C
 * cancels it and leaves each message on one of the two queues.
 * @param rate maximum messages a second. Without it, SQS decides
 * @returns whether the task completed and moved messages
 * @throws CommandError if there is nothing to move, or SQS fails
 */
export async function redriveAll(operation: Operation, queue: WaitingQueue, rate?: number): Promise<boolean> {
  const { stack, printLine, progress } = operation;
  const { sqs } = stack;
  const state = await queueState(sqs, queue.url);
  const before = await latestTask(sqs, state.arn);
  if (isActive(before)) {
    printLine(`A redrive of ${queue.title} is already running. This command follows it.`);
  } else {
    if (state.visible === 0 && !(await hasMessage(stack, queue.url))) {
      throw new CommandError(`Nothing to redrive: ${emptiness(queue, state)}`);
    }
    // SQS does not know the source queue of messages that a consumer sent here.
    const destination = await queueState(sqs, stack.event(eventOf(stack, queue.name)).queueUrl);
    await sqs.send(
      new StartMessageMoveTaskCommand({
        SourceArn: state.arn,
        DestinationArn: destination.arn,
        MaxNumberOfMessagesPerSecond: rate,
      }),
    );
  }

  const earlier = isActive(before) ? undefined : before;
  const task = await follow(operation, state.arn, earlier)
    .catch((error: Error) => {
      throw new CommandError(
        `Cannot follow the redrive: ${error.message}. It continues in SQS, and nothing is lost. Repeat the command to follow it`,
      );
    })
    .finally(() => progress.end());
  const moved = task.ApproximateNumberOfMessagesMoved ?? 0;
  const result = { stack: stack.title, queue: queue.name, moved };
  const done = `Moved ${messages(moved)} to the queue of ${queue.name}.`;
  if (task.Status === 'FAILED') {
    throw new CommandError(
      `${done} Then SQS stopped: ${task.FailureReason}. The others are on ${queue.title}`,
    );
  }
  if (task.Status === 'CANCELLED') {
    operation.report?.({ ...result, cancelled: true });
    printLine(`Cancelled. ${done} The others are on ${queue.title}. Nothing is lost.`);
    return false;
  }
  printLine(done);
  const isEmpty =
    moved > 0 && !(await hasMessage({ sqs, waitSeconds: FAILS_AGAIN_WITHIN_SECONDS }, queue.url));
  operation.report?.({ ...result, cancelled: false, isEmpty });
  if (!isEmpty) {
    printLine(`There are still messages on ${queue.title}: they failed again, are new or were in flight.`);
    printLine(`See why: ${stack.command(`show ${queue.name}`)}`);
  }
  return moved > 0;
}

/**
 * Waits until the task has ended, and shows its progress. Ctrl-C cancels the task.
 * @param before the latest task before this one was started
 */
async function follow(
  { stack: { sqs, pollMilliseconds }, signal, progress, printLine }: Operation,
  sourceArn: string,
  before: ListMessageMoveTasksResultEntry | undefined,
): Promise<ListMessageMoveTasksResultEntry> {
  let cancelled = false;
  for (;;) {
    const task = await latestTask(sqs, sourceArn);
    // SQS may list a new task with a delay. Until then, the previous task is the latest.
    if (task && task.StartedTimestamp !== before?.StartedTimestamp) {
      const { ApproximateNumberOfMessagesMoved: done = 0, ApproximateNumberOfMessagesToMove: total = 0 } =
        task;
      progress.show({ doing: 'Moving', done, total: Math.max(done, total), unit: 'messages' });
      if (!isActive(task)) return task;
      if (signal.aborted && !cancelled) {
        cancelled = true;
        printLine('Interrupted: cancelling the move …');
        await cancel(sqs, task.TaskHandle);
      }
    }
    await sleep(pollMilliseconds, undefined, { signal: signal.aborted ? undefined : signal }).catch(() => {});
  }
}

async function cancel(sqs: SQSClient, TaskHandle: string | undefined): Promise<void> {
  try {
    await sqs.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
  } catch (error) {
    // The task has just ended. The next poll shows it.
    if (!(error instanceof UnsupportedOperation || error instanceof ResourceNotFoundException)) throw error;
  }
}

async function latestTask(
  sqs: SQSClient,
  SourceArn: string,
): Promise<ListMessageMoveTasksResultEntry | undefined> {
  const { Results } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 1 }));
  return Results?.[0];
}

function isActive(task: ListMessageMoveTasksResultEntry | undefined): boolean {
  return task?.Status === 'RUNNING' || task?.Status === 'CANCELLING';
}
