import { createInterface } from 'node:readline';
import { runProgram } from '../terminal/run-program.ts';
import { INTERRUPTED } from '../terminal/terminal.ts';

/** Environment variable of a process that {@link runNextStacks} has started. */
const IS_NEXT = 'STARTED_BY_ANOTHER_STACK';

/** Exit code by which such a process asks for the next stack. */
const NEXT = 75;

/**
 * Runs the next stack in a process of its own, so that all code is loaded again, such as the list of events.
 * @param options of the command, which replace those that the user typed
 * @returns the exit code
 */
export async function runNextStacks(options: readonly string[]): Promise<number> {
  if (process.env[IS_NEXT] !== undefined) return NEXT;
  const args = [...process.execArgv, ...process.argv.slice(1), ...options];
  for (;;) {
    const code = await runProgram(args, { [IS_NEXT]: 'yes' });
    // Ctrl-C is how a stack ends.
    if (code !== NEXT) return code === INTERRUPTED ? 0 : code;
  }
}

/**
 * Waits until the user types `r` and Enter. Standard input is not read before, because a shell stops a background
 * process that reads from its terminal.
 */
export async function restartTyped(signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin });
  const close = () => lines.close();
  signal.addEventListener('abort', close);
  try {
    for await (const line of lines) if (line.trim() === 'r') return true;
    return false;
  } finally {
    signal.removeEventListener('abort', close);
    lines.close();
    process.stdin.unref?.();
  }
}
