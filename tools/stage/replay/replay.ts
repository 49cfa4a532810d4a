import { setTimeout as sleep } from 'node:timers/promises';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { ARCHIVE_BUFFER_SECONDS, MAX_FUNCTION_SECONDS, VISIBILITY_TIMEOUTS } from '../../../lambda/limits.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { confirm, requireTerminal } from '../../terminal/terminal.ts';
import { duration, messages, printable, shellWord } from '../../terminal/text.ts';
import { expiredPart } from '../archive/retention.ts';
import { forPeople, type Operation } from '../operation.ts';
import { queueState, recentMaxima } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';
import {
  makePlan,
  newRequest,
  type ReplayOptions,
  type ReplayPlan,
  type ReplayRequest,
  replayWords,
} from './replay-plan.ts';
import { ReplaySender } from './replay-sender.ts';
import { describeEnd, describePlan, describeUnsent } from './replay-text.ts';

/** Milliseconds between two updates of the progress. */
const SHOW_INTERVAL = 200;

/**
 * Sends the archived events of a window to their queues again. A replay stores no progress: effects are versioned and
 * notifications remember the replay's name, so the same command may run again after any interruption.
 * @returns whether everything was sent
 * @throws CommandError if the options are wrong (then nothing was sent), or if the replay stopped half-way
 */
export async function replay(operation: Operation, options: ReplayOptions): Promise<boolean> {
  const { stack, printLine } = operation;
  const { rate, dryRun, yes } = options;
  const now = new Date();
  const request = newRequest(options, now);
  const { events, since, until } = request.filter;
  if (!dryRun && !yes) requireTerminal();
  const delay = await archiveDelay(stack, events);
  const expired = await expiredPart(stack, { since, until });
  const plan = await makePlan(operation, request);
  if (plan === undefined) {
    printLine('Interrupted. Nothing was sent.');
    return false;
  }
  const writtenAt = until.getTime() + delay;
  if (plan.messages === 0) throw nothingToReplay(stack.title, plan, writtenAt > now.getTime() ? delay : 0);
  for (const line of describePlan(operation, request, plan, { now, rate, writtenAt, expired }))
    printLine(line);
  const command = commandOf(operation, request, rate);
  printLine('');
  printLine(`To run this plan, also after an interruption: ${command}`);
  if (dryRun) {
    operation.report?.({ stack: stack.title, ...request, ...planReport(plan), expired, command });
    return plan.damaged.length === 0;
  }
  if (!yes) {
    printLine('');
    if (!(await confirm(`Send ${messages(plan.messages)}?`, operation.signal))) {
      printLine('Nothing was sent.');
      return false;
    }
  }
  return await run(operation, { request, rate, planned: plan.messages, writtenAt, command });
}

/** @param begun `writtenAt`: when the last record of the window is in the archive, in epoch milliseconds */
async function run(
  operation: Operation,
  begun: { request: ReplayRequest; rate: number; planned: number; writtenAt: number; command: string },
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const { request, rate, planned, writtenAt, command } = begun;
  const { filter, name } = request;
  const sender = new ReplaySender(stack, request, rate);
  const began = performance.now();
  const again = `Run it again with: ${command}`;
  const finished = await sendWindow(operation, sender, planned, writtenAt).catch((error: unknown) => {
    const shown = forPeople(error, stack.local);
    if (!(shown instanceof CommandError)) throw error;
    throw new CommandError(`${shown.message}. Sent until then: ${messages(sender.total)}. ${again}`);
  });
  const { sent, skipped, refused, damaged } = sender;
  const unarchived = finished ? await notYetArchived(stack, filter.events, filter.until) : undefined;
  const took = performance.now() - began;
  const lines = finished
    ? describeEnd(operation, name, sender, { took, unarchived })
    : ['', `Interrupted: ${sender.total.toLocaleString('en')} of ${messages(planned)} are sent.`, again];
  for (const line of lines) printLine(line);
  const result = { finished, sent, skipped, refused, damaged: damageReport(damaged), unarchived };
  operation.report?.({ stack: stack.title, name, ...result });
  const isWhole = damaged.length + refused.length === 0 && unarchived === undefined;
  return finished && isWhole && !signal.aborted;
}

/**
 * Sends the records of the window, again and again until Firehose has written all of them.
 * @returns false after an abort
 */
async function sendWindow(
  { signal, progress }: Operation,
  sender: ReplaySender,
  planned: number,
  writtenAt: number,
): Promise<boolean> {
  let waitingSince: number | undefined;
  const showing = setInterval(() => {
    if (waitingSince !== undefined) {
      const doing = 'Waiting for records that Firehose has not written yet';
      const [done, total] = [seconds(Date.now() - waitingSince), seconds(writtenAt - waitingSince)];
      progress.show({ doing, done, total, unit: 's' });
      return;
    }
    const { total: done, waitReason: note = '' } = sender;
    progress.show({ doing: 'Replaying', done, total: Math.max(done, planned), unit: 'messages', note });
  }, SHOW_INTERVAL);
  try {
    for (;;) {
      const listedAt = Date.now();
      await sender.send(signal);
      if (signal.aborted) return false;
      if (listedAt >= writtenAt) return true;
      waitingSince = Date.now();
      await sleep(Math.max(0, writtenAt - waitingSince), undefined, { signal }).catch(() => {});
      waitingSince = undefined;
    }
  } finally {
    clearInterval(showing);
    progress.end();
  }
}

/** A plan as data, for `--json`. */
const planReport = ({ messages, counts, skipped, damaged }: ReplayPlan) => ({
  messages,
  events: Object.fromEntries([...counts].map(([event, of]) => [event, Object.fromEntries(of)] as const)),
  skipped,
  damaged: damageReport(damaged),
});

const damageReport = (damaged: ReplayPlan['damaged']) =>
  damaged.map(({ key, line, message }) => ({ key, line, message }));

/** The command that runs exactly what the plan shows. */
function commandOf({ stack }: Operation, request: ReplayRequest, rate: number): string {
  return printable(stack.command(replayWords(request, rate).map(shellWord).join(' '), 'replay'));
}

/** @param delay milliseconds by which the newest records of the window may still be late */
function nothingToReplay(title: string, { skipped, damaged }: ReplayPlan, delay: number): CommandError {
  const unsent = describeUnsent(skipped);
  return new CommandError(
    [
      `Nothing to replay: the archive of ${title} has no such record`,
      unsent === '' ? '' : ` except ${unsent}, which a replay skips`,
      damaged.length === 0 ? '' : `. Damaged objects: ${damaged.map(({ message }) => message).join(', ')}`,
      delay === 0 ? '' : `. The newest records arrive up to ${duration(delay)} late`,
    ].join(''),
  );
}

const seconds = (milliseconds: number) => Math.round(milliseconds / 1000);

/** Milliseconds until a local stack has written a record. It buffers for a quarter of a second. */
const LOCAL_DELAY = 2_000;

/** Seconds for Firehose to compress and write an object. An assumption: AWS documents no limit. */
const WRITE_MARGIN = 5 * 60;

/**
 * Milliseconds from settling a message to its record in the archive. The batch ends within the consumer's timeout, then
 * Firehose buffers and writes. If Firehose must retry, which it does for a day, the record is later: see {@link
 * notYetArchived}.
 */
export async function archiveDelay(stack: Stage, events: readonly EventName[]): Promise<number> {
  if (stack.local) return LOCAL_DELAY;
  const timeouts = await Promise.all(
    events.map(async (event) => {
      const { visibility } = await queueState(stack.sqs, stack.ofEvent(event, 'QueueUrl'));
      return Math.min(MAX_FUNCTION_SECONDS, visibility / VISIBILITY_TIMEOUTS);
    }),
  );
  return (ARCHIVE_BUFFER_SECONDS + Math.max(...timeouts) + WRITE_MARGIN) * 1000;
}

/** Age of the oldest record that a stream has not written yet. */
const FRESHNESS = { Namespace: 'AWS/Firehose', MetricName: 'DeliveryToS3.DataFreshness' };

/**
 * Checks whether Firehose still has records of a window. If S3 rejects them, Firehose retries for a day.
 * @param until end of the window
 * @returns a text for people; undefined if there are none, or this is not measured
 */
export async function notYetArchived(
  stack: Stage,
  events: readonly EventName[],
  until: Date,
): Promise<string | undefined> {
  if (stack.local) return undefined;
  try {
    const ages = await Promise.all(
      events.map(async (event) => {
        const dimension = { Name: 'DeliveryStreamName', Value: stack.ofEvent(event, 'ArchiveStream') };
        // Without a value, nothing was sent.
        const [{ maximum: seconds } = { maximum: 0 }] = await recentMaxima(stack, FRESHNESS, dimension);
        return seconds;
      }),
    );
    const oldest = new Date(Date.now() - Math.max(...ages) * 1000);
    if (oldest >= until) return undefined;
    return `Firehose still has records since ${oldest.toISOString()}. Replay again later under another name.`;
  } catch (error) {
    // A missing permission is not an error: without it, the replay still sends everything that the archive has.
    if (!(error instanceof Error) || !error.name.startsWith('AccessDenied')) throw error;
    return 'It is unknown whether Firehose still has records: permission denied for cloudwatch:GetMetricStatistics.';
  }
}
