import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** How long a stack may take to be ready, or to end, in milliseconds. */
const START_LIMIT = 60_000;

const BYTES_OF_KIB = 1024;

/** A stack as `npm start` runs it, in a process of its own, on ports that are free. */
export class RunningStack implements AsyncDisposable {
  readonly webhookUrl: string;
  readonly awsUrl: string;
  /** What it said that it took until it was ready, in seconds. */
  readonly secondsUntilReady: number;
  readonly #process: ChildProcess;

  /**
   * @param options further ones of `npm start`
   * @throws Error where it is not ready in time
   */
  static async start(signal: AbortSignal, options: readonly string[] = []): Promise<RunningStack> {
    const started = performance.now();
    const [, ...script] = startScript();
    const child = spawn(
      process.execPath,
      [...script, '--port', '0', '--aws-port', '0', '--console-port', '0', ...options],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const limit = AbortSignal.any([signal, AbortSignal.timeout(START_LIMIT)]);
    const said: Record<string, string> = {};
    try {
      for await (const line of createInterface({ input: child.stdout, signal: limit })) {
        const [, what, where] = /^\s+(Webhook|AWS)\s+(http\S+)/.exec(line) ?? [];
        if (what !== undefined && where !== undefined) said[what] = where;
        if (line.startsWith('Ready in')) said.seconds = String((performance.now() - started) / 1000);
        if (said.AWS !== undefined) break;
      }
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
    if (said.AWS === undefined) throw new Error('The stack ended before it was ready');
    // What it goes on to say is read, as a terminal would, and shown to nobody.
    child.stdout.resume();
    return new RunningStack(child, said);
  }

  private constructor(child: ChildProcess, said: Readonly<Record<string, string>>) {
    this.#process = child;
    this.webhookUrl = said.Webhook ?? '';
    this.awsUrl = said.AWS ?? '';
    this.secondsUntilReady = Number(said.seconds);
  }

  /** Resident memory of its process and of all that come of it, in MB. */
  async megabytes(): Promise<number> {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,rss=']);
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number));
    const ours = new Set([this.#process.pid]);
    for (const [pid, parent] of rows) if (ours.has(parent)) ours.add(pid);
    const kibibytes = rows.reduce((sum, [pid, , rss = 0]) => sum + (ours.has(pid) ? rss : 0), 0);
    return (kibibytes * BYTES_OF_KIB) / 1e6;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGINT');
    const cut = setTimeout(() => this.#process.kill('SIGKILL'), START_LIMIT);
    await ended;
    clearTimeout(cut);
  }
}

/** Of package.json, in words: `node … tools/commands/cli.ts start`. */
function startScript(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ');
}
