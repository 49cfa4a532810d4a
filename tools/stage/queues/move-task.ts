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
import { queueState, sourceQueueUrl, type WaitingQueue } from './queue.ts';
import { emptiness } from './show.ts';
import { hasMessage } from './walk.ts';

/** What cannot succeed is on the dead-letter queue again so soon. */
const FAILS_AGAIN_WITHIN_SECONDS = 1;

interface MoveOptions {
  /** Messages in a second at most. @default as many as SQS finds right */
  readonly rate?: number;
  /** Between two looks at the task. @default 1000 */
  readonly pollMilliseconds?: number;
}

/**
 * Redrives a whole dead-letter queue by SQS's own move task. It goes on in SQS whatever becomes of this
 * process; Ctrl-C cancels it, and leaves each message on one of the two queues.
 * @returns whether it ended by itself and moved messages
 * @throws CommandError where there is nothing to move, or SQS fails to
 */
export async function redriveAll(
  operation: Operation,
  queue: WaitingQueue,
  { rate, pollMilliseconds = 1000 }: MoveOptions = {},
): Promise<boolean> {
  const { stack, say } = operation;
  const { sqs } = stack;
  const state = await queueState(sqs, queue.url);
  const before = await latestTask(sqs, state.arn);
  if (isActive(before)) {
    say(`A redrive of ${queue.title} is under way already: following it.`);
  } else {
    if (state.visible === 0 && !(await hasMessage(stack, queue.url))) {
      throw new CommandError(`Nothing to redrive: ${emptiness(queue, state)}`);
    }
    // Named, because SQS knows no source of the messages that a consumer put here itself.
    const destination = await queueState(sqs, sourceQueueUrl(stack, queue.name) ?? '');
    await sqs.send(
      new StartMessageMoveTaskCommand({
        SourceArn: state.arn,
        DestinationArn: destination.arn,
        MaxNumberOfMessagesPerSecond: rate,
      }),
    );
  }

  const task = await follow(
    operation,
    state.arn,
    isActive(before) ? undefined : before,
    pollMilliseconds,
  ).catch((error: Error) => {
    throw new CommandError(
      `The redrive goes on in SQS and nothing is lost, but following it failed: ${error.message}. Repeat the command to follow it.`,
    );
  });
  const moved = task.ApproximateNumberOfMessagesMoved ?? 0;
  const done = `Moved ${messages(moved)} to the queue of ${queue.name}.`;
  if (task.Status === 'FAILED') {
    throw new CommandError(`${done} Then SQS gave up: ${task.FailureReason}. The rest is on ${queue.title}.`);
  }
  if (task.Status === 'CANCELLED') {
    say(`Cancelled. ${done} The rest is on ${queue.title}; nothing is lost.`);
    return false;
  }
  say(done);
  if (moved === 0 || (await hasMessage({ sqs, waitSeconds: FAILS_AGAIN_WITHIN_SECONDS }, queue.url))) {
    say(`There are messages on ${queue.title} still: they failed again, are new or were in flight.`);
    say(`See: ${stack.command(`show ${queue.name}`)}`);
  }
  return moved > 0;
}

/** Waits until the task has ended, and tells its progress; cancels it on Ctrl-C. */
async function follow(
  { stack: { sqs }, signal, say }: Operation,
  sourceArn: string,
  before: ListMessageMoveTasksResultEntry | undefined,
  pollMilliseconds: number,
): Promise<ListMessageMoveTasksResultEntry> {
  let told: string | undefined;
  let cancelled = false;
  for (;;) {
    const task = await latestTask(sqs, sourceArn);
    // A task may take a moment until it is listed: until then the one before is the latest.
    const known = task?.StartedTimestamp !== before?.StartedTimestamp;
    if (task && known) {
      const progress = `Moved ${task.ApproximateNumberOfMessagesMoved ?? 0} of about ${task.ApproximateNumberOfMessagesToMove ?? 0} …`;
      if (!isActive(task)) return task;
      if (progress !== told) say(progress);
      told = progress;
      if (signal.aborted && !cancelled) {
        cancelled = true;
        say('Interrupted: cancelling the move …');
        await cancel(sqs, task.TaskHandle);
      }
    }
    await sleep(pollMilliseconds, undefined, { ...(!cancelled && !signal.aborted && { signal }) }).catch(
      () => {},
    );
  }
}

async function cancel(sqs: SQSClient, TaskHandle: string | undefined): Promise<void> {
  try {
    await sqs.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
  } catch (error) {
    // It has just ended, which the next look tells.
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
