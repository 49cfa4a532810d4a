import type { EventName } from '../../../lambda/events/catalogue.ts';
import { ARCHIVE_BUFFER_SECONDS, MAX_FUNCTION_SECONDS, VISIBILITY_TIMEOUTS } from '../../../lambda/limits.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { confirm, requireTerminal } from '../../terminal/terminal.ts';
import { duration, messages, printable, shellWord } from '../../terminal/text.ts';
import { expiredPart } from '../archive/retention.ts';
import { forPeople, type Operation } from '../operation.ts';
import { queueState } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';
import {
  makePlan,
  newRequest,
  type ReplayOptions,
  type ReplayPlan,
  type ReplayRequest,
  replayWords,
} from './replay-plan.ts';
import { ReplayResult, sendReplay } from './replay-sender.ts';
import { describeEnd, describePlan, describeUnsent } from './replay-text.ts';

/**
 * Sends the archived events of a window to their queues again. A replay stores no progress: effects are versioned and
 * notifications remember the replay's name, so the same command may run again after any interruption.
 * @returns whether everything was sent
 * @throws CommandError if the options are wrong (then nothing was sent), or if the replay stopped half-way
 */
export async function replay(operation: Operation, options: ReplayOptions): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const { rate, dryRun, yes } = options;
  const now = new Date();
  const asked = newRequest(options, now);
  if (!dryRun && !yes) requireTerminal();
  const { request, later } = await withoutLateRecords(stack, asked, now);
  const expired = await expiredPart(stack, request.filter);
  const plan = await makePlan(operation, request);
  if (plan === undefined) {
    printLine('Interrupted. Nothing was sent.');
    return false;
  }
  if (plan.messages === 0) throw nothingToReplay(stack.title, plan, later);
  const command = commandOf(operation, request, rate);
  for (const line of [
    ...describePlan(operation, request, plan, { rate, expired, later }),
    '',
    `To run this plan, also after an interruption: ${command}`,
  ])
    printLine(line);
  if (dryRun) {
    operation.report?.({ stack: stack.title, ...request, ...planReport(plan), expired, later, command });
    return plan.damaged.length === 0;
  }
  if (!yes) {
    printLine('');
    if (!(await confirm(`Send ${messages(plan.messages)}?`, signal))) {
      printLine('Nothing was sent.');
      return false;
    }
  }
  return await run(operation, request, { rate, planned: plan.messages, later, command });
}

async function run(
  operation: Operation,
  request: ReplayRequest,
  plan: { rate: number; planned: number; later: string | undefined; command: string },
): Promise<boolean> {
  const { stack, signal, printLine } = operation;
  const { planned, later, command } = plan;
  const { name } = request;
  const result = new ReplayResult();
  const began = performance.now();
  const again = `Run it again with: ${command}`;
  await sendReplay(operation, request, plan, result).catch((error: unknown) => {
    const shown = forPeople(error, stack.local);
    if (!(shown instanceof CommandError)) throw error;
    throw new CommandError(`${shown.message}. Sent until then: ${messages(result.total)}. ${again}`);
  });
  const finished = !signal.aborted;
  const { total, sent, skipped, damaged } = result;
  const lines = finished
    ? describeEnd(operation, name, result, { took: performance.now() - began, later })
    : ['', `Interrupted: ${total.toLocaleString('en')} of ${messages(planned)} are sent.`, again];
  for (const line of lines) printLine(line);
  operation.report?.({ stack: stack.title, name, finished, sent, skipped, damaged, later });
  return finished && damaged.length === 0;
}

/** A plan as data, for `--json`. */
const planReport = ({ messages, counts, skipped, damaged }: ReplayPlan) => ({
  messages,
  events: Object.fromEntries([...counts].map(([event, of]) => [event, Object.fromEntries(of)] as const)),
  skipped,
  damaged,
});

/** The command that runs exactly what the plan shows. */
function commandOf({ stack }: Operation, request: ReplayRequest, rate: number): string {
  return printable(stack.command(replayWords(request, rate).map(shellWord).join(' '), 'replay'));
}

/** @param later a text if the archive does not have the end of the window yet */
function nothingToReplay(
  title: string,
  { skipped, damaged }: ReplayPlan,
  later: string | undefined,
): CommandError {
  const unsent = describeUnsent(skipped);
  return new CommandError(
    [
      `Nothing to replay: the archive of ${title} has no such record`,
      unsent === '' ? '' : ` except ${unsent}, which a replay skips`,
      damaged.length === 0 ? '' : `. Damaged objects: ${damaged.join(', ')}`,
      later === undefined ? '' : `. ${later}`,
    ].join(''),
  );
}

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
