import { CommandError } from '../terminal/command-error.ts';
import { SourceTree } from '../watch/source-tree.ts';
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

/** @returns undefined unless {@link restartProcess} started this process, and until {@link completeRestart} */
export function restartOf({ env }: NodeJS.Process): Restart | undefined {
  const text = env[RESTARTED];
  return text === undefined ? undefined : (JSON.parse(text) as Restart);
}

/** The stack runs. From now on, an error ends the process. */
export function completeRestart({ env }: NodeJS.Process): void {
  delete env[RESTARTED];
}

/** For a stack that did not start again, because a mistake was saved meanwhile: tries again after the next save. */
export async function retryRestart(): Promise<void> {
  const sources = new SourceTree((problem) => console.error(`Problem: ${problem}`));
  console.error('The stack does not run. Save a correction, and it starts.');
  await new Promise<void>((resolve) => sources.watch(() => resolve()));
  sources.close();
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, process.env);
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
