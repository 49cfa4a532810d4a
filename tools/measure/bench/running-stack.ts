import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { LOCAL_SECRET } from '../../../events/signing.ts';

/** How long a stack may take to be ready, in milliseconds. */
const START_LIMIT = 60_000;

/** How long it may take to end, in milliseconds: it waits five seconds for running batches. */
const END_LIMIT = 15_000;

/** All that they get of the environment: a port, a secret or a folder of compiled modules that is set there is not meant for them. */
const KEPT_VARIABLES = ['HOME', 'PATH', 'TMPDIR'];

const BYTES_OF_KIB = 1024;

/** A stack as `npm start` runs it, in a process of its own, on ports that are free and with the usual secret. */
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
    signal.throwIfAborted();
    const started = performance.now();
    const [, ...script] = startScript();
    const child = spawn(
      process.execPath,
      [
        ...script,
        ...['--port', '0', '--aws-port', '0', '--console-port', '0', '--secret', LOCAL_SECRET],
        ...options,
      ],
      { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const limit = AbortSignal.any([signal, AbortSignal.timeout(START_LIMIT)]);
    const said: Record<string, string> = {};
    // The signal ends the lines, and throws nothing.
    for await (const line of createInterface({ input: child.stdout, signal: limit })) {
      const [, what, where] = /^\s+(Webhook|AWS)\s+(http\S+)/.exec(line) ?? [];
      if (what !== undefined && where !== undefined) said[what] = where;
      if (line.startsWith('Ready in')) said.seconds = String((performance.now() - started) / 1000);
      if (said.AWS !== undefined) break;
    }
    if (said.AWS === undefined) {
      await end(child);
      signal.throwIfAborted();
      throw new Error(
        limit.aborted
          ? `The stack was not ready after ${START_LIMIT / 1000} s`
          : 'The stack ended before it was ready',
      );
    }
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

  /** Resident memory of its process and of all that come of it, in MB. @throws Error where there is no `ps` */
  async megabytes(): Promise<number> {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,rss=']).catch(
      ({ message }) => {
        throw new Error(`"ps" does not tell (Debian's package procps has it): ${message}`);
      },
    );
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number));
    const ours = new Set([this.#process.pid]);
    for (const [pid, parent] of rows) if (ours.has(parent)) ours.add(pid);
    const kibibytes = rows.reduce((sum, [pid, , rss = 0]) => sum + (ours.has(pid) ? rss : 0), 0);
    return (kibibytes * BYTES_OF_KIB) / 1e6;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return end(this.#process);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  const cut = setTimeout(() => child.kill('SIGKILL'), END_LIMIT);
  await ended;
  clearTimeout(cut);
}

/** Of processes that are measured. */
export const cleanEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(
    KEPT_VARIABLES.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );

/** Of package.json, in words: `node … tools/cli/commands/entry.js start`. */
function startScript(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ');
}
