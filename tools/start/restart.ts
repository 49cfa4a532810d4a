import { CommandError } from '../terminal/command-error.ts';
import type { Mistakes } from '../watch/watch.ts';

/** Environment variable with a {@link Restart}, as JSON. */
const RESTARTED = 'RESTARTED_STACK';

/** Environment variable with the number of words that {@link restartProcess} has added to the command line. */
const ADDED = 'RESTARTED_STACK_WORDS';

/** Why a stack was restarted, for the one after it. */
export interface Restart extends Mistakes {
  /** Saved files that needed it. */
  readonly files: readonly string[];
  /** Epoch milliseconds at which the earlier stack began to stop. */
  readonly at: number;
}

/** @returns undefined unless {@link restartProcess} started this process */
export function restartOf({ env }: NodeJS.Process): Restart | undefined {
  const text = env[RESTARTED];
  delete env[RESTARTED];
  return text === undefined ? undefined : (JSON.parse(text) as Restart);
}

/**
 * Replaces this process by one with the same command line, so that all code is loaded again, such as the list of
 * events. The process keeps its id and its terminal. Nothing else stays open.
 * @param options more options of the command, instead of those of an earlier restart
 * @throws CommandError if the system cannot do that
 */
export function restartProcess(restart: Restart, options: readonly string[]): void {
  // Node.js does not have it on Windows.
  if (process.execve === undefined) throw new CommandError('Start the stack again: its template has changed');
  const typed = process.argv.slice(1, process.argv.length - Number(process.env[ADDED] ?? 0));
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...typed, ...options], {
    ...process.env,
    [RESTARTED]: JSON.stringify(restart),
    [ADDED]: String(options.length),
  });
}
