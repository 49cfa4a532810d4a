import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { CommandError } from '../../terminal/command-error.ts';
import { facts } from '../../terminal/facts.ts';
import { Progress } from '../../terminal/progress.ts';
import { agreed, canAsk } from '../../terminal/question.ts';
import { duration, messages } from '../../terminal/text.ts';
import { type RecordFilter, recordFilter } from '../archive/filter.ts';
import { archiveBucket } from '../archive/objects.ts';
import type { Operation } from '../dead-letters/operation.ts';
import { archiveDelay } from './late.ts';
import { Ledger, sentOf } from './ledger.ts';
import { Pace } from './pace.ts';
import { makePlan, type Plan } from './plan.ts';
import { describePlan } from './plan-text.ts';
import { newRequest, type ReplayOptions, type ReplayRequest, refuseAnother } from './request.ts';
import { sendRecords } from './run.ts';
import { type ReplayState, StateFile, TakenOverError } from './state.ts';
import { describeEnd } from './summary-text.ts';

/** Milliseconds between two writes of the state, and between two looks at how far it is. */
const WRITE_INTERVAL = 3_000;
const SHOW_INTERVAL = 200;

/** Milliseconds after its last sign of life at which a run is taken for dead: five writes. */
const DEAD_AFTER = 15_000;

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
export async function replay(operation: Operation, options: ReplayOptions & Consent): Promise<boolean> {
  const { stack, say, signal } = operation;
  archiveBucket(stack);
  if (!options.dryRun && !options.yes && !canAsk()) {
    throw new CommandError(
      'There is no terminal to ask at: --yes sends without a question, --dry-run only plans',
    );
  }
  const now = new Date();
  const left = options.name === undefined ? undefined : await new StateFile(stack, options.name).read();
  const request = left ?? (await newRequest(stack, options, now));
  if (left !== undefined) {
    refuseEnded(left);
    refuseAnother(options, left);
  }
  const delay = await archiveDelay(stack, request.filter.events);

  const plan = left === undefined ? await planned(operation, request) : undefined;
  if (plan !== undefined) {
    if (plan.records.messages === 0) throw nothing(operation, request, plan, delay);
    const { title } = stack;
    const text = describePlan({ title, request, plan, rate: options.rate, delay, width: operation.width });
    for (const line of text) say(line);
  } else if (left !== undefined) {
    for (const line of describeRest(operation, left)) say(line);
  }
  if (plan === undefined && left === undefined) {
    say('Interrupted. Nothing was sent.');
    return false;
  }
  if (options.dryRun) return (plan?.damaged ?? []).length === 0;
  if (!options.yes) {
    say('');
    const number = plan?.records.messages ?? 0;
    const question = plan === undefined ? 'Go on?' : `Send ${messages(number)}?`;
    if (!(await agreed(question, signal))) {
      say('Nothing was sent.');
      return false;
    }
  }

  const file = new StateFile(stack, request.name);
  const state = await claimed(operation, file, left, () => begun(operation, request, now, plan));
  return await carryOut(operation, file, state, { rate: options.rate, delay });
}

function filterOf({ filter: { events, since, until, shop, ids, outcomes } }: ReplayRequest): RecordFilter {
  return recordFilter({ events, since: new Date(since), until: new Date(until), shop, ids, outcomes });
}

async function planned({ stack, signal }: Operation, request: ReplayRequest): Promise<Plan | undefined> {
  const progress = new Progress();
  try {
    return await makePlan(stack, filterOf(request), signal, (records, objects) =>
      progress.count(
        'Planning',
        `${objects === 1 ? '1 object' : `${objects} objects`} · ${messages(records.messages)}`,
      ),
    );
  } finally {
    progress.end();
  }
}

function nothing({ stack }: Operation, { filter }: ReplayRequest, plan: Plan, delay: number): CommandError {
  const { ofReplays, forgotten } = plan.records.skipped;
  const others = [
    ofReplays > 0 ? ` but ${ofReplays} of replays` : '',
    forgotten > 0 ? ` but ${forgotten} that are forgotten` : '',
    plan.damaged.length > 0 ? `, and cannot be read wholly: ${plan.damaged.join(', ')}` : '',
    Date.parse(filter.until) + delay > Date.now() ? `. It is up to ${duration(delay)} late` : '',
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
        ['window', `${state.filter.since} up to ${state.filter.until}`],
        ['sent', `${sentOf(state).toLocaleString('en')} of ${messages(state.planned)}`],
      ],
      width,
    ),
  ];
}

async function begun(
  { stack }: Operation,
  request: ReplayRequest,
  now: Date,
  plan: Plan | undefined,
): Promise<ReplayState> {
  const { Arn = 'unknown' } = await stack.sts.send(new GetCallerIdentityCommand({}));
  return {
    ...request,
    by: Arn,
    startedAt: now.toISOString(),
    planned: plan?.records.messages ?? 0,
    done: plan?.barren.objects.text() ?? '',
    sent: {},
    skipped: { ofReplays: 0, forgotten: 0, ...plan?.barren.records.skipped, payloadGone: 0 },
    refused: { count: 0, first: [] },
    damaged: [],
  };
}

/** Makes the replay this process's. @throws CommandError where somebody was faster */
async function claimed(
  { stack }: Operation,
  file: StateFile,
  left: ReplayState | undefined,
  make: () => Promise<ReplayState>,
): Promise<ReplayState> {
  // A question may have been open for long.
  const now = await file.read();
  if (now !== undefined) refuseEnded(now);
  if (left === undefined && now !== undefined) {
    throw new CommandError(`There is a replay ${now.name} already: give another --name`);
  }
  const { Arn: by = 'unknown' } = await stack.sts.send(new GetCallerIdentityCommand({}));
  const running = { by, id: randomUUID(), at: new Date().toISOString() };
  const state = { ...(now ?? (await make())), running };
  await file.write(state);
  return state;
}

/** Runs a replay to its end, or until Ctrl-C. */
async function carryOut(
  { stack, say, signal: interrupted, width }: Operation,
  file: StateFile,
  state: ReplayState,
  { rate, delay }: { readonly rate: number; readonly delay: number },
): Promise<boolean> {
  const { name, mode, notify, planned: total, running } = state;
  const ledger = new Ledger(state);
  const before = ledger.sent;
  const began = performance.now();
  const pace = new Pace(rate);
  const progress = new Progress();
  const taken = new AbortController();
  const signal = AbortSignal.any([interrupted, taken.signal]);
  let held: string | undefined;
  let waitsUntil: number | undefined;
  let waitsSince = 0;

  const show = setInterval(() => {
    if (waitsUntil !== undefined) {
      const [done, of] = [Date.now() - waitsSince, waitsUntil - waitsSince].map((time) =>
        Math.round(time / 1000),
      );
      progress.show({
        doing: 'Waiting for what Firehose has yet to write',
        done: done ?? 0,
        total: of ?? 0,
        unit: 's',
      });
      return;
    }
    const note = held ?? (before > 0 ? `${before.toLocaleString('en')} before` : '');
    progress.show({
      doing: 'Replaying',
      done: ledger.sent - before,
      total: total - before,
      unit: 'messages',
      note,
    });
  }, SHOW_INTERVAL);
  const writing = keepWriting(file, () => ledger.state(alive(running)), taken);

  let finished = false;
  try {
    const writtenBy = Date.parse(state.filter.until) + delay;
    for (;;) {
      const listedAt = Date.now();
      await sendRecords({
        stack,
        replay: { name, mode, notify },
        filter: filterOf(state),
        ledger,
        pace,
        signal,
        onHold: (reason) => {
          held = reason;
        },
      });
      if (signal.aborted) break;
      finished = listedAt >= writtenBy;
      if (finished) break;
      [waitsSince, waitsUntil] = [Date.now(), writtenBy];
      await sleep(Math.max(0, writtenBy - Date.now()), undefined, { signal }).catch(() => {});
      waitsUntil = undefined;
      if (signal.aborted) break;
    }
  } catch (error) {
    throw goOn(error, stack.command(`--name ${name}`, 'replay'));
  } finally {
    clearInterval(show);
    await writing.stop();
    progress.end();
    if (!taken.signal.aborted) {
      await file.write(ledger.state(finished ? { finishedAt: new Date().toISOString() } : {}));
    }
  }
  if (taken.signal.aborted) throw taken.signal.reason;

  const end = ledger.state({});
  const seconds = (performance.now() - began) / 1000;
  for (const line of describeEnd({
    stack,
    state: end,
    finished,
    sent: ledger.sent - before,
    seconds,
    width,
  })) {
    say(line);
  }
  return finished && end.damaged.length === 0 && end.refused.count === 0;
}

function alive(running: ReplayState['running']): Pick<ReplayState, 'running'> {
  return running === undefined ? {} : { running: { ...running, at: new Date().toISOString() } };
}

/** Writes the state every few seconds, so that little is sent again where the process dies. */
function keepWriting(file: StateFile, state: () => ReplayState, taken: AbortController) {
  const ending = new AbortController();
  const written = (async () => {
    while (!ending.signal.aborted) {
      await sleep(WRITE_INTERVAL, undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted) return;
      try {
        await file.write(state());
      } catch (error) {
        // Anything else may pass until the next time; at the end it is an error.
        if (error instanceof TakenOverError) taken.abort(error);
      }
    }
  })();
  return {
    async stop(): Promise<void> {
      ending.abort();
      await written;
    },
  };
}

/** What stops a replay half-way says how to go on, in one line. */
function goOn(error: unknown, command: string): unknown {
  if (!(error instanceof Error)) return error;
  const isOfAws = error instanceof CommandError || '$metadata' in error || 'code' in error;
  if (!isOfAws) return error;
  const text =
    error instanceof CommandError ? error.message : `${error.name}: ${error.message.split('\n')[0]}`;
  return new CommandError(`${text}. What was sent is noted; go on with: ${command}`);
}
