import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../terminal/command-error.ts';
import { lines } from '../../terminal/facts.ts';
import type { ProgressDisplay } from '../../terminal/progress.ts';
import type { RecordFilter } from '../archive/filter.ts';
import type { Operation } from '../operation.ts';
import { Display } from './display.ts';
import { heldBack } from './late.ts';
import { Ledger } from './ledger.ts';
import { Pace } from './pace.ts';
import { sendRecords } from './run.ts';
import { type ReplayState, type StateFile, TakenOverError } from './state.ts';
import { describeEnd } from './summary-text.ts';

/** Milliseconds between two writes of the state. */
const WRITE_INTERVAL = 3_000;

/** Milliseconds after its last sign of life at which a run is taken for dead: five writes. */
export const DEAD_AFTER = 15_000;

interface Run {
  readonly file: StateFile;
  /** As it was begun, or left; not running. */
  readonly state: ReplayState;
  /** ARN of who runs it. */
  readonly by: string;
  readonly filter: RecordFilter;
  /** Messages a second. */
  readonly rate: number;
  /** Milliseconds by which the archive is late. */
  readonly delay: number;
  readonly progress: ProgressDisplay;
}

/**
 * Runs a replay to its end, or until Ctrl-C.
 * @returns whether all of it was sent
 * @throws CommandError where somebody else runs it, or that says why it stopped and how to go on
 */
export async function carryOut(
  { stack, say, signal: interrupted, width }: Operation,
  { file, state, by, filter, rate, delay, progress }: Run,
): Promise<boolean> {
  const { name, mode, notify, planned: total } = state;
  const id = randomUUID();
  const alive = () => ({ running: { by, id, at: new Date().toISOString() } });
  // Makes it this process's.
  await file.write({ ...state, ...alive() });
  const ledger = new Ledger(state);
  const before = ledger.sent;
  const began = performance.now();
  const pace = new Pace(rate);
  const taken = new AbortController();
  const signal = AbortSignal.any([interrupted, taken.signal]);
  const display = new Display(progress, total, ledger);
  const writing = keepWriting(file, () => ledger.state(alive()), taken);

  let finished = false;
  let held: string | undefined;
  let failure: { readonly error: unknown } | undefined;
  try {
    const writtenBy = Date.parse(state.filter.until) + delay;
    for (;;) {
      const listedAt = Date.now();
      await sendRecords({
        stack,
        replay: { name, mode, notify },
        filter,
        ledger,
        pace,
        signal,
        onHold: (reason) => display.hold(reason),
      });
      if (signal.aborted) break;
      if (listedAt >= writtenBy) {
        held = await heldBack(stack, state.filter.events, new Date(state.filter.until));
        finished = true;
        break;
      }
      await display.whileWaiting(writtenBy, signal);
      if (signal.aborted) break;
    }
  } catch (error) {
    failure = { error };
  }
  display.end();
  await writing.stop();
  if (taken.signal.aborted) throw taken.signal.reason;
  let isNoted = true;
  try {
    await file.write(ledger.state(finished ? { finishedAt: new Date().toISOString() } : {}));
  } catch (error) {
    isNoted = false;
    // What came first is why this failed, too, as where credentials have expired.
    failure ??= { error };
  }
  if (failure !== undefined) {
    const noted = isNoted
      ? 'What was sent is noted'
      : `What was sent until ${writing.writtenAt.toISOString()} is noted, what came after may be sent again`;
    throw goOn(failure.error, `${noted}; go on with: ${stack.command(`--name ${name}`, 'replay')}`);
  }

  const end = ledger.state({});
  const sent = ledger.sent - before;
  const seconds = (performance.now() - began) / 1000;
  for (const line of ['', ...describeEnd({ stack, state: end, finished, sent, seconds, width })]) say(line);
  if (held !== undefined) for (const line of ['', ...lines(held, width)]) say(line);
  return finished && held === undefined && end.damaged.length === 0 && end.refused.count === 0;
}

/** Writes the state every few seconds, so that little is sent again where the process dies. */
function keepWriting(file: StateFile, state: () => ReplayState, taken: AbortController) {
  const ending = new AbortController();
  let writtenAt = new Date();
  const written = (async () => {
    while (!ending.signal.aborted) {
      await sleep(WRITE_INTERVAL, undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted) return;
      try {
        const at = new Date();
        await file.write(state());
        writtenAt = at;
      } catch (error) {
        // Anything else may pass until the next time; at the end it is an error.
        if (error instanceof TakenOverError) taken.abort(error);
      }
    }
  })();
  return {
    /** When the state was taken that was written last. */
    get writtenAt(): Date {
      return writtenAt;
    },
    async stop(): Promise<void> {
      ending.abort();
      await written;
    },
  };
}

/** What stops a replay half-way says how to go on, in one line. */
function goOn(error: unknown, how: string): unknown {
  if (!(error instanceof Error) || error instanceof TakenOverError) return error;
  const isOfAws = error instanceof CommandError || '$metadata' in error || 'code' in error;
  if (!isOfAws) return error;
  const text =
    error instanceof CommandError ? error.message : `${error.name}: ${error.message.split('\n')[0]}`;
  return new CommandError(`${text}. ${how}`);
}
