import { type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import {
  ARCHIVE_BUFFER_SECONDS,
  MAX_FUNCTION_SECONDS,
  REPLAYABLE_DAYS,
  VISIBILITY_TIMEOUTS,
} from '../../../lambda/limits.ts';
import { CommandError, UsageError } from '../../terminal/command-error.ts';
import { table } from '../../terminal/layout.ts';
import { confirm, requireTerminal } from '../../terminal/terminal.ts';
import { duration, messages } from '../../terminal/text.ts';
import { DAY, describeDamage } from '../archive/read-archive.ts';
import { requireWindow } from '../archive/record-filter.ts';
import { forPeople, type Operation } from '../operation.ts';
import { queueState } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';
import {
  describePlan,
  describeUnsent,
  makePlan,
  type ReplayOptions,
  type ReplayPlan,
  type ReplayRequest,
} from './replay-plan.ts';
import { ReplayResult, sendReplay } from './replay-sender.ts';

/**
 * Sends the archived events of a window to their queues again. A replay stores no progress: effects are versioned and
 * notifications remember the replay's name, so the same command may run again after any interruption.
 * @returns whether everything was sent
 * @throws CommandError if the options are wrong (then nothing was sent), or if the replay stopped half-way
 */
export async function replay(operation: Operation, options: ReplayOptions): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const { dryRun, yes } = options;
  const { request, later } = await newRequest(stack, options);
  // Fails before the archive is read, which takes long.
  if (!dryRun && !yes) requireTerminal();
  const plan = await makePlan(operation, request, later);
  if (plan === undefined) {
    printLine('Interrupted. Nothing was sent.');
    return false;
  }
  for (const line of describePlan(operation, plan)) printLine(line);
  if (dryRun) {
    const { request: _, counts, ...more } = plan;
    const events = Object.fromEntries([...counts].map(([event, of]) => [event, Object.fromEntries(of)]));
    operation.report?.({ stack: stack.title, ...request, events, ...more });
    return plan.damaged.length === 0;
  }
  if (!yes) {
    printLine('');
    if (!(await confirm(`Send ${messages(plan.messages)}?`, signal))) {
      printLine('Nothing was sent.');
      return false;
    }
  }
  return await run(operation, plan);
}

async function run(operation: Operation, plan: ReplayPlan): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const { request, later, command } = plan;
  const result = new ReplayResult();
  const began = performance.now();
  const again = `Run it again with: ${command}`;
  await sendReplay(operation, plan, result).catch((error: unknown) => {
    const shown = forPeople(error, stack.local);
    if (!(shown instanceof CommandError)) throw error;
    throw new CommandError(`${shown.message}. Sent until then: ${messages(result.total)}. ${again}`);
  });
  const finished = !signal.aborted;
  const { total, sent, skipped, damaged } = result;
  const lines = finished
    ? describeEnd(operation, plan, result, performance.now() - began)
    : ['', `Interrupted: ${total.toLocaleString('en')} of ${messages(plan.messages)} are sent.`, again];
  for (const line of lines) printLine(line);
  operation.report?.({ stack: stack.title, name: request.name, finished, sent, skipped, damaged, later });
  return finished && damaged.length === 0;
}

/**
 * What a replay has sent and skipped, and where to look next.
 * @param took milliseconds
 */
function describeEnd(
  { stack, width }: Operation,
  { request, later }: ReplayPlan,
  { total, sent, skipped, damaged }: ReplayResult,
  took: number,
): string[] {
  const rows = Object.entries(sent).map(([event, number]) => [event, number.toLocaleString('en')]);
  const unsent = describeUnsent(skipped);
  return [
    '',
    `Replay ${request.name} is finished: sent ${messages(total)} in ${duration(Math.max(1_000, took))}.`,
    '',
    ...table([{ heading: 'EVENT' }, { heading: 'SENT', align: 'right' }], rows, width),
    ...(unsent === '' ? [] : ['', `Skipped: ${unsent}.`]),
    ...(damaged.length === 0 ? [] : ['', ...describeDamage(damaged)]),
    '',
    `To follow one message:  ${stack.command('<event id>', 'trace')}`,
    `To see what failed:     ${stack.command('list')}`,
    ...(later === undefined ? [] : ['', later]),
  ];
}

/**
 * The request that options describe, without records that the archive may lack yet.
 * @throws UsageError if the options are not possible for a replay; CommandError if nothing of the window is left
 */
async function newRequest(stack: Stage, options: ReplayOptions) {
  const now = new Date();
  const { events, since, until = now, shop, search, outcomes } = options;
  const { mode = 'fill', notify = false, name, rate } = options;
  if (since === undefined) throw new UsageError('Give a start, such as --since 3d');
  for (const [option, time] of Object.entries({ since, until })) {
    if (time > now) throw new UsageError(`--${option} is in the future: ${time.toISOString()}`);
  }
  requireWindow({ since, until });
  const earliest = new Date(now.getTime() - REPLAYABLE_DAYS * DAY);
  if (since < earliest) {
    throw new UsageError(
      `A replay reaches back ${REPLAYABLE_DAYS} days, to ${earliest.toISOString()}. --since is ${since.toISOString()}`,
    );
  }
  const all = [...new Set(events.length === 0 ? eventNames : events)];
  const filter = { events: all, since, until, shop, search, outcomes };
  const request = { name: name ?? `${mode}-${compact(now)}`, mode, notify, rate, filter };
  return await withoutLateRecords(stack, request, now);
}

/** `20261121-093000`. */
const compact = (time: Date) => time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');

/** Seconds for Firehose to compress and write an object. An assumption: AWS documents no limit. */
const WRITE_MARGIN = 5 * 60;

/**
 * Ends a window before the newest records, which may not be in the archive yet.
 * @returns `later`: a text if the window was shortened
 * @throws CommandError if nothing of the window is left
 */
async function withoutLateRecords(stack: Stage, request: ReplayRequest, now: Date) {
  // The local stack writes a record at once.
  if (stack.local) return { request, later: undefined };
  const { events, since, until } = request.filter;
  const delay = await archiveDelay(stack, events);
  const complete = new Date(now.getTime() - delay);
  if (until <= complete) return { request, later: undefined };
  const later = `The archive may lack records settled since ${complete.toISOString()}. Replay them ${duration(delay)} after they settled, with this --since.`;
  if (since >= complete) throw new CommandError(`Nothing to replay yet. ${later}`);
  return { request: { ...request, filter: { ...request.filter, until: complete } }, later };
}

/**
 * Milliseconds from settling a message to its record in the archive. The batch ends within the consumer's timeout, then
 * Firehose buffers and writes. If Firehose cannot write, it retries for a day, and the alarm `Archive/Failing` fires.
 */
export async function archiveDelay(stack: Stage, events: readonly EventName[]): Promise<number> {
  const timeouts = await Promise.all(
    events.map(async (event) => {
      const { visibility } = await queueState(stack.sqs, stack.ofEvent(event, 'QueueUrl'));
      return Math.min(MAX_FUNCTION_SECONDS, visibility / VISIBILITY_TIMEOUTS);
    }),
  );
  return (ARCHIVE_BUFFER_SECONDS + Math.max(...timeouts) + WRITE_MARGIN) * 1000;
}
