import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

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
