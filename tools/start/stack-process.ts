import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { runProgram } from '../terminal/run-program.ts';
import { INTERRUPTED } from '../terminal/terminal.ts';

/** Milliseconds between two checks whether npm still runs. */
const CHECK_INTERVAL = 1_000;

/**
 * Ends this process as Ctrl-C does when the npm that started it has ended: npm does not pass on SIGHUP or SIGKILL, and
 * its SIGTERM reaches only the shell between the two. Supervisors and CI know only npm's process.
 */
export async function endWithNpm(): Promise<void> {
  if (process.env.npm_command === undefined) return;
  const shell = process.ppid;
  const npm = await parentOf(shell).catch(() => shell);
  const check = setInterval(() => {
    if (process.ppid === shell && isRunning(npm)) return;
    clearInterval(check);
    process.kill(process.pid, 'SIGTERM');
  }, CHECK_INTERVAL);
  check.unref();
}

async function parentOf(pid: number): Promise<number> {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=', '-p', String(pid)]);
    return Number(stdout);
  }
  // The name before the state and the parent may contain parentheses. Source: proc_pid_stat(5).
  const [, parent] = /.*\) \S (\d+)/s.exec(await readFile(`/proc/${pid}/stat`, 'utf8')) ?? [];
  return Number(parent ?? pid);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

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
  // A file that is saved while the stack stops comes with an aborted signal. The process must end nevertheless.
  const lines = createInterface({ input: process.stdin, signal });
  try {
    for await (const line of lines) if (line.trim() === 'r') return true;
    return false;
  } finally {
    lines.close();
    process.stdin.unref?.();
  }
}
