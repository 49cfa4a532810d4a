import { CommandError } from '../terminal/command-error.ts';
import { SourceTree } from '../watch/source-tree.ts';
import type { Mistakes } from '../watch/watch.ts';

/** Environment variable that passes a {@link Restart} to the next process, as JSON. */
const RESTARTED = 'RESTARTED_STACK';

/**
 * Environment variable with the number of arguments that {@link restartProcess} has added to the command
 * line.
 */
const ADDED = 'RESTARTED_STACK_WORDS';

/** Why a stack was restarted, as the next stack needs to know. */
export interface Restart extends Mistakes {
  /** Saved files that made the restart necessary. */
  readonly files: readonly string[];
  /** When the earlier stack began to stop, epoch milliseconds. */
  readonly at: number;
}

/**
 * @returns why this process was started by {@link restartProcess}; undefined if it was not, and after
 * {@link completeRestart}
 */
export function restartOf({ env }: NodeJS.Process): Restart | undefined {
  const text = env[RESTARTED];
  return text === undefined ? undefined : (JSON.parse(text) as Restart);
}

/** Marks the restart as complete. After this call, an error ends the process instead of waiting for a save. */
export function completeRestart({ env }: NodeJS.Process): void {
  delete env[RESTARTED];
}

/**
 * If a restarted stack cannot start because of an error in saved sources: waits for the next save and
 * restarts again.
 */
export async function retryRestart(): Promise<void> {
  const sources = new SourceTree((problem) => console.error(`Problem: ${problem}`));
  console.error('The stack does not run. Save a correction, and it starts.');
  await new Promise<void>((resolve) => sources.watch(() => resolve()));
  sources.close();
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, process.env);
}

/**
 * Replaces this process by a new one with the same command line, so that all code is loaded again, such as the list of
 * events. Process id and terminal stay the same; everything else is closed.
 * @param options more options of the command. They replace the options of an earlier restart
 * @throws CommandError if the system cannot replace a process
 */
export function restartProcess(restart: Restart, options: readonly string[]): void {
  // `execve` does not exist on Windows.
  if (process.execve === undefined) throw new CommandError('Start the stack again: its template has changed');
  const typed = process.argv.slice(1, process.argv.length - Number(process.env[ADDED] ?? 0));
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...typed, ...options], {
    ...process.env,
    [RESTARTED]: JSON.stringify(restart),
    [ADDED]: String(options.length),
  });
}
