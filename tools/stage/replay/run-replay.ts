import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../terminal/command-error.ts';
import { manyMessages } from '../../terminal/text.ts';
import { type Operation, printBlocks } from '../operation.ts';
import { notYetArchived } from './archive-lag.ts';
import { Checkpoint } from './checkpoint.ts';
import { continuation } from './replay-plan.ts';
import { type ReplayState, type StateFile, TakenOverError } from './replay-state.ts';
import { describeEnd } from './replay-text.ts';
import { sendRecords } from './send-records.ts';
import { TokenBucket } from './token-bucket.ts';

/** Milliseconds between two saves that show that this process is alive. */
const SAVE_INTERVAL = 3_000;

/** Milliseconds after its last save at which a run counts as dead: five missed saves. */
export const DEAD_AFTER = 15_000;

/** Milliseconds between two updates of the progress. */
const SHOW_INTERVAL = 200;

/**
 * Runs a replay to its end, or until Ctrl-C.
 * @param run `state`: new, or as the last run left it; `by`: ARN of the person who runs it; `delay`: milliseconds by
 * which the archive is late
 * @returns whether everything was sent
 * @throws CommandError if another process runs the replay, or if it stopped half-way: with the reason and how to
 * continue
 */
export async function runReplay(
  operation: Operation,
  { file, state, by, delay }: { file: StateFile; state: ReplayState; by: string; delay: number },
): Promise<boolean> {
  const { stack, signal } = operation;
  const checkpoint = await Checkpoint.take(file, state, by);
  const before = checkpoint.sent;
  const began = performance.now();
  const takenOver = new AbortController();
  const saving = setInterval(() => {
    // Any other failure may be temporary: the next save tries again.
    checkpoint.save().catch((error) => error instanceof TakenOverError && takenOver.abort(error));
  }, SAVE_INTERVAL);
  let finished = false;
  let unarchived: string | undefined;
  let failure: unknown;
  try {
    const whileOwned = { ...operation, signal: AbortSignal.any([signal, takenOver.signal]) };
    ({ finished, unarchived } = await sendWindow(whileOwned, checkpoint, delay));
  } catch (error) {
    failure = error;
  }
  clearInterval(saving);
  await checkpoint.save(finished ? { finishedAt: new Date().toISOString() } : {}).catch((error) => {
    // The first failure is usually the cause of this one, too, such as expired credentials.
    failure ??= error;
  });
  if (takenOver.signal.aborted) throw takenOver.signal.reason;
  if (!finished || failure !== undefined) operation.onPlanned?.(continuation(state.name));
  if (failure !== undefined) {
    const progressSaved =
      checkpoint.unsaved === 0
        ? 'Progress is saved'
        : `The last ${manyMessages(checkpoint.unsaved)} could not be recorded as sent, and will be sent again`;
    throw withAdvice(
      failure,
      `${progressSaved}. Continue with: ${stack.command(`--name ${state.name}`, 'replay')}`,
    );
  }

  const sent = checkpoint.sent - before;
  const took = performance.now() - began;
  const end = describeEnd(stack, checkpoint.state, { finished, sent, took });
  const rest = unarchived === undefined ? [] : ['', unarchived];
  printBlocks(operation, [...end, ...rest.map((text) => ({ kind: 'text' as const, text }))]);
  const { name, sent: total, skipped, damaged, refused } = checkpoint.state;
  operation.report?.({
    stack: stack.title,
    name,
    finished,
    sent: total,
    sentNow: sent,
    skipped,
    refused,
    damaged,
    unarchived,
  });
  return finished && unarchived === undefined && damaged.length === 0 && refused.count === 0;
}

/**
 * Sends the records of the window, again and again until Firehose has written all of them.
 * @param delay milliseconds by which the archive is late
 * @returns `finished` is false after an abort; `unarchived`: a text if Firehose still buffers records
 */
async function sendWindow(
  { stack, signal, progress }: Operation,
  checkpoint: Checkpoint,
  delay: number,
): Promise<{ readonly finished: boolean; readonly unarchived: string | undefined }> {
  const { filter, planned, rate } = checkpoint.state;
  const until = new Date(filter.until);
  const writtenAt = until.getTime() + delay;
  const bucket = new TokenBucket(rate);
  const before = checkpoint.sent;
  let waitReason: string | undefined;
  const onWait = (reason: string | undefined) => {
    waitReason = reason;
  };
  let waitingSince: number | undefined;
  const showing = setInterval(() => {
    if (waitingSince !== undefined) {
      const doing = 'Waiting for records that Firehose has not written yet';
      const [done, total] = [seconds(Date.now() - waitingSince), seconds(writtenAt - waitingSince)];
      progress.show({ doing, done, total, unit: 's' });
      return;
    }
    const done = checkpoint.sent - before;
    const total = Math.max(done, planned - before);
    const note = waitReason ?? (before > 0 ? `${before.toLocaleString('en')} sent before` : '');
    progress.show({ doing: 'Replaying', done, total, unit: 'messages', note });
  }, SHOW_INTERVAL);
  try {
    for (;;) {
      const listedAt = Date.now();
      await sendRecords({ stack, checkpoint, bucket, signal, onWait });
      if (signal.aborted) return { finished: false, unarchived: undefined };
      if (listedAt >= writtenAt) {
        return { finished: true, unarchived: await notYetArchived(stack, filter.events, until) };
      }
      waitingSince = Date.now();
      const wait = Math.max(0, writtenAt - waitingSince);
      await sleep(wait, undefined, { signal }).catch(() => {});
      waitingSince = undefined;
    }
  } finally {
    clearInterval(showing);
    progress.end();
  }
}

/** Adds how to continue to an error that stops a replay half-way. */
function withAdvice(error: unknown, advice: string): unknown {
  if (!(error instanceof Error) || error instanceof TakenOverError) return error;
  if (error instanceof CommandError) return new CommandError(`${error.message}. ${advice}`);
  const isOfAws = '$metadata' in error || 'code' in error;
  return isOfAws ? new CommandError(`${error.name}: ${error.message.split('\n')[0]}. ${advice}`) : error;
}

const seconds = (milliseconds: number) => Math.round(milliseconds / 1000);
