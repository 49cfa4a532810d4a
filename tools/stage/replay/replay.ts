import { REPLAYABLE_RECEIPT_DAYS } from '../../../lambda/queue/replay.ts';
import { CommandError } from '../../terminal/command-error.ts';
import { confirm, requireSomebodyToAsk } from '../../terminal/confirm.ts';
import { facts } from '../../terminal/facts.ts';
import { Progress, type ProgressDisplay } from '../../terminal/progress.ts';
import { duration, manyMessages } from '../../terminal/text.ts';
import { type RecordFilter, recordFilter } from '../archive/filter.ts';
import { archiveBucket } from '../archive/objects.ts';
import { expiredPart } from '../archive/retention.ts';
import { caller } from '../caller.ts';
import type { Operation } from '../operation.ts';
import { carryOut, DEAD_AFTER } from './carry-out.ts';
import { archiveDelay } from './late.ts';
import { sentOf } from './ledger.ts';
import { makePlan, type Plan } from './plan.ts';
import { describePlan } from './plan-text.ts';
import { newRequest, type ReplayOptions, type ReplayRequest, refuseAnother } from './request.ts';
import { type ReplayState, StateFile } from './state.ts';

interface Consent {
  /** Ends after the plan. */
  readonly dryRun: boolean;
  /** Does not ask. */
  readonly yes: boolean;
}

/**
 * Sends what the archive has of a window to its queues once more, or goes on with that.
 * @returns whether all of it was sent
 * @throws CommandError where it cannot be done as it was told; nothing has been sent then
 */
export async function replay(
  operation: Operation,
  options: ReplayOptions & Consent,
  progress: ProgressDisplay = operation.progress ?? new Progress(),
): Promise<boolean> {
  archiveBucket(operation.stack);
  const left =
    options.name === undefined ? undefined : await new StateFile(operation.stack, options.name).read();
  return left === undefined
    ? await begin(operation, options, progress)
    : await resume(operation, options, progress, left);
}

async function begin(
  operation: Operation,
  options: ReplayOptions & Consent,
  progress: ProgressDisplay,
): Promise<boolean> {
  const { stack, say, width } = operation;
  const now = new Date();
  const request = newRequest(stack, options, now);
  requireConsent(options);
  const delay = await archiveDelay(stack, request.filter.events);
  const filter = filterOf(request);
  const expired = await expiredPart(stack, filter);
  const plan = await makePlan(operation, filter);
  if (plan === undefined) {
    say('Interrupted. Nothing was sent.');
    return false;
  }
  if (plan.records.messages === 0) throw nothing(operation, request, plan, delay);
  const { title } = stack;
  const { rate } = options;
  for (const line of describePlan({ title, request, plan, rate, delay, expired, width })) say(line);
  if (options.dryRun) return plan.damaged.length === 0;
  if (!(await consented(operation, options, `Send ${manyMessages(plan.records.messages)}?`))) return false;

  const file = new StateFile(stack, request.name);
  const before = await file.read();
  if (before !== undefined) {
    throw new CommandError(`There is a replay ${before.name} already: give another --name`);
  }
  const by = await caller(stack);
  const state = {
    ...request,
    by,
    startedAt: now.toISOString(),
    planned: plan.records.messages,
    done: plan.barren.objects.text(),
    sent: {},
    skipped: { ...plan.barren.records.skipped, payloadGone: 0 },
    refused: { count: 0, first: [] },
    damaged: [],
  };
  return await carryOut(operation, { file, state, by, filter, rate, delay, progress });
}

async function resume(
  operation: Operation,
  options: ReplayOptions & Consent,
  progress: ProgressDisplay,
  left: ReplayState,
): Promise<boolean> {
  const { stack, say } = operation;
  refuseEnded(left);
  refuseAnother(options, left);
  requireConsent(options);
  const delay = await archiveDelay(stack, left.filter.events);
  for (const line of describeRest(operation, left)) say(line);
  if (options.dryRun) return true;
  if (!(await consented(operation, options, 'Go on?'))) return false;
  // The question may have been open for long.
  const file = new StateFile(stack, left.name);
  const state = (await file.read()) ?? left;
  refuseEnded(state);
  const by = await caller(stack);
  const filter = filterOf(state);
  return await carryOut(operation, { file, state, by, filter, rate: options.rate, delay, progress });
}

/** @throws CommandError where nobody could answer, once all else that was typed is right */
function requireConsent({ dryRun, yes }: Consent): void {
  if (!dryRun && !yes) requireSomebodyToAsk();
}

async function consented({ say, signal }: Operation, { yes }: Consent, question: string): Promise<boolean> {
  if (yes) return true;
  say('');
  if (await confirm(question, signal)) return true;
  say('Nothing was sent.');
  return false;
}

function filterOf({ filter: { events, since, until, shop, ids, outcomes } }: ReplayRequest): RecordFilter {
  return recordFilter({ events, since: new Date(since), until: new Date(until), shop, ids, outcomes });
}

function nothing({ stack }: Operation, { filter }: ReplayRequest, plan: Plan, delay: number): CommandError {
  const { ofReplays, forgotten, tooOld } = plan.records.skipped;
  const others = [
    ofReplays > 0 ? ` but ${ofReplays} of replays` : '',
    forgotten > 0 ? ` but ${forgotten} that are forgotten` : '',
    tooOld > 0 ? ` but ${tooOld} received more than ${REPLAYABLE_RECEIPT_DAYS} days ago` : '',
    plan.damaged.length > 0
      ? `, and cannot be read wholly: ${plan.damaged.map(({ message }) => message).join(', ')}`
      : '',
    Date.parse(filter.until) + delay > Date.now()
      ? `. What is newest comes up to ${duration(delay)} late`
      : '',
  ].join('');
  return new CommandError(`Nothing to replay: the archive of ${stack.title} has no such record${others}`);
}

/** @throws CommandError where the replay was finished, or somebody runs it */
function refuseEnded({ name, finishedAt, running }: ReplayState): void {
  if (finishedAt !== undefined) {
    throw new CommandError(`Replay ${name} was finished at ${finishedAt}: give another --name`);
  }
  if (running === undefined) return;
  const age = Date.now() - Date.parse(running.at);
  if (age >= DEAD_AFTER) return;
  throw new CommandError(
    `Replay ${name} runs right now, by ${running.by}, ${duration(age)} ago: end it there with Ctrl-C; where it was killed, repeat this in ${duration(DEAD_AFTER - age)}`,
  );
}

function describeRest({ stack, width }: Operation, state: ReplayState): string[] {
  return [
    `Going on with replay ${state.name} in ${stack.title}`,
    '',
    ...facts(
      [
        ['begun', `${state.startedAt} by ${state.by}`],
        ['mode', state.notify ? `${state.mode}, people are told again` : state.mode],
        ['window', `settled since ${state.filter.since}, until ${state.filter.until}`],
        ['sent', `${sentOf(state).toLocaleString('en')} of ${manyMessages(state.planned)}`],
      ],
      width,
    ),
  ];
}
