import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../terminal/command-error.ts';
import { confirm, requireTerminal } from '../../terminal/terminal.ts';
import { duration, manyMessages, printable, shellWord } from '../../terminal/text.ts';
import { expiredPart } from '../archive/retention.ts';
import { forPeople, type Operation } from '../operation.ts';
import { archiveDelay, notYetArchived } from './archive-lag.ts';
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
    if (!(await confirm(`Send ${manyMessages(plan.messages)}?`, operation.signal))) {
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
    throw new CommandError(`${shown.message}. Sent until then: ${manyMessages(sender.total)}. ${again}`);
  });
  const { sent, skipped, refused, damaged } = sender;
  const unarchived = finished ? await notYetArchived(stack, filter.events, filter.until) : undefined;
  const took = performance.now() - began;
  const lines = finished
    ? describeEnd(operation, name, sender, { took, unarchived })
    : ['', `Interrupted: ${sender.total.toLocaleString('en')} of ${manyMessages(planned)} are sent.`, again];
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
  const [script = '', ...words] = replayWords(request, rate);
  return printable(stack.command(words.map(shellWord).join(' '), script));
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
