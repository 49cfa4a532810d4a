import { CommandError } from '../../terminal/command-error.ts';
import { confirm, requireTerminal } from '../../terminal/terminal.ts';
import { duration, manyMessages, printable, shellWord } from '../../terminal/text.ts';
import { expiredPart } from '../archive/retention.ts';
import { type Operation, printBlocks } from '../operation.ts';
import { archiveDelay } from './archive-lag.ts';
import { DEFAULT_RATE } from './limits.ts';
import {
  continuation,
  makePlan,
  newRequest,
  plannedCommand,
  type ReplayOptions,
  type ReplayPlan,
  refuseAnother,
} from './replay-plan.ts';
import { type ReplayState, StateFile } from './replay-state.ts';
import { describePlan, describeRest, describeUnsent } from './replay-text.ts';
import { DEAD_AFTER, runReplay } from './run-replay.ts';

/**
 * Sends the archived events of a window to their queues again, or resumes such a replay.
 * @returns whether everything was sent
 * @throws CommandError if the options are wrong (then nothing was sent), or if the replay stopped half-way
 */
export async function replay(operation: Operation, options: ReplayOptions): Promise<boolean> {
  const { stack } = operation;
  const { name, dryRun } = options;
  const left = name === undefined ? undefined : await new StateFile(stack, name).read();
  if (left === undefined) return await begin(operation, options);

  refuseEnded(left);
  refuseAnother(options, left);
  requireConsent(options);
  const { rate = left.rate } = options;
  const delay = await archiveDelay(stack, left.filter.events);
  printBlocks(operation, describeRest({ ...left, rate }, stack.title));
  if (dryRun) {
    const command = printNext(operation, continuation(left.name, options.rate));
    const { mode, notify, filter, planned, sent, skipped } = left;
    operation.report?.({ stack: stack.title, name, mode, notify, filter, planned, sent, skipped, command });
    return true;
  }
  if (!(await consented(operation, options, 'Continue?'))) return false;
  // The state is read again, because the user may have answered the question late, and another process may have run the
  // replay.
  const file = new StateFile(stack, left.name);
  const state = (await file.read()) ?? left;
  refuseEnded(state);
  return await runReplay(operation, {
    file,
    state: { ...state, rate },
    by: await stack.caller(),
    delay,
  });
}

async function begin(operation: Operation, options: ReplayOptions): Promise<boolean> {
  const { stack, printLine } = operation;
  const { rate = DEFAULT_RATE, dryRun } = options;
  const now = new Date();
  const request = newRequest(stack, options, now);
  const { events, since, until } = request.filter;
  requireConsent(options);
  const delay = await archiveDelay(stack, events);
  const expired = await expiredPart(stack, { since: new Date(since), until: new Date(until) });
  const plan = await makePlan(operation, request);
  if (plan === undefined) {
    printLine('Interrupted. Nothing was sent.');
    return false;
  }
  if (plan.messages === 0) {
    throw nothingToReplay(stack.title, plan, Date.parse(until) + delay > Date.now() ? delay : 0);
  }
  printBlocks(operation, describePlan(stack, request, plan, { rate, delay, expired }));
  if (dryRun) {
    const command = printNext(operation, plannedCommand(request, rate));
    operation.report?.({ stack: stack.title, ...request, ...planReport(plan), expired, command });
    return plan.damaged.length === 0;
  }
  if (!(await consented(operation, options, `Send ${manyMessages(plan.messages)}?`))) return false;

  const file = new StateFile(stack, request.name);
  if ((await file.read()) !== undefined) {
    throw new CommandError(`Replay ${request.name} already exists. Choose another --name`);
  }
  const by = await stack.caller();
  const state: ReplayState = {
    ...request,
    by,
    startedAt: now.toISOString(),
    rate,
    planned: plan.messages,
    begun: {},
    done: plan.barren.done,
    sent: {},
    skipped: plan.barren.skipped,
    refused: { count: 0, first: [] },
    damaged: [],
  };
  return await runReplay(operation, { file, state, by, delay });
}

/** A plan as data, for `--json`. */
const planReport = ({ messages, counts, skipped, damaged }: ReplayPlan) => ({
  messages,
  events: Object.fromEntries(
    [...counts].map(([event, outcomes]) => [event, Object.fromEntries(outcomes)] as const),
  ),
  skipped,
  damaged: damaged.map(({ key, line, message }) => ({ key, line, message })),
});

/**
 * Prints the command that runs exactly what the plan shows.
 * @returns the words of that command
 */
function printNext(operation: Operation, argv: readonly string[]): string {
  const [script = '', ...words] = argv;
  const command = printable(operation.stack.command(words.map(shellWord).join(' '), script));
  printBlocks(operation, [
    { kind: 'text', text: '' },
    { kind: 'command', text: 'To run this plan', command },
  ]);
  operation.onPlanned?.(argv);
  return command;
}

/** @throws CommandError if a confirmation is needed, and there is no terminal */
function requireConsent({ dryRun, yes }: ReplayOptions): void {
  if (!dryRun && !yes) requireTerminal();
}

async function consented(
  { printLine, signal }: Operation,
  { yes }: ReplayOptions,
  question: string,
): Promise<boolean> {
  if (yes) return true;
  printLine('');
  if (await confirm(question, signal)) return true;
  printLine('Nothing was sent.');
  return false;
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

/** @throws CommandError if the replay is finished, or another process runs it */
function refuseEnded({ name, finishedAt, running }: ReplayState): void {
  if (finishedAt !== undefined) {
    throw new CommandError(`Replay ${name} was finished at ${finishedAt}. Choose another --name`);
  }
  if (running === undefined) return;
  const age = Date.now() - Date.parse(running.at);
  if (age >= DEAD_AFTER) return;
  throw new CommandError(
    `Replay ${name} is running, by ${running.by}, last seen ${duration(age)} ago. Stop it there with Ctrl-C. If it was killed, try again in ${duration(Math.max(1_000, DEAD_AFTER - age))}`,
  );
}
