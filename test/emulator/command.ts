import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Ended {
  readonly code: number | null;
  /** All that it wrote. */
  readonly output: string;
}

/** Process groups of this run that have not ended, by their leader's id. */
const running = new Set<number>();

/** Kills whatever still runs, at once. For the end of the process: nothing may outlive it. */
export function killAll(): void {
  for (const group of running) signal(group, 'SIGKILL');
}

/** Starts a command in a process group of its own, so that it can be ended with all that it started. */
export function start([file = '', ...args]: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(file, args, { env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { pid } = child;
  if (pid !== undefined) {
    running.add(pid);
    child.once('close', () => running.delete(pid));
  }
  return child;
}

/**
 * Runs a command to its end.
 * @param onOutput is told what it writes, as it comes
 * @throws Error where it cannot be started
 */
export async function run(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  onOutput: (text: string) => void = () => {},
): Promise<Ended> {
  const child = start(command, environment);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput(text);
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** Runs a command that has to succeed. @throws Error with all that it wrote, where it fails */
export async function mustRun(command: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const { code, output } = await run(command, environment);
  if (code !== 0) throw new Error(`${command.join(' ')} failed (${code}):\n${output}`);
  return output;
}

/** Ends a command and all that it started: with time to clean up, then without. */
export async function stop(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined || !running.has(pid)) return;
  const closed = once(child, 'close');
  signal(pid, 'SIGTERM');
  const timer = setTimeout(() => signal(pid, 'SIGKILL'), 5_000);
  await closed;
  clearTimeout(timer);
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // It has ended meanwhile.
  }
}
