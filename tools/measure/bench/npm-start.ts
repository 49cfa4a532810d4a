import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { LOCAL_SECRET } from '../../../events/signing.ts';
import { type Figure, ratios, spread } from './figure.ts';

const ROUNDS = 4;

/** Time until `npm start` is ready, if it has run before. Excludes npm itself. */
export const npmStart: Figure = {
  name: 'npm-start',
  title: '`npm start` until ready, after the first time',
  goal: { atMost: 4 },
  unit: 's',
  async measure({ signal, onProgress }) {
    onProgress('the first time');
    await (await RunningStack.start(signal))[Symbol.asyncDispose]();
    const pairs: { of: number; to: number }[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      onProgress(`start ${round} of ${ROUNDS}`);
      const to = secondsOfNode();
      await using stack = await RunningStack.start(signal);
      pairs.push({ of: stack.secondsUntilReady, to });
    }
    const seconds = pairs.map(({ of }) => of);
    const ratio = ratios(pairs).median.toFixed(0);
    return { ...spread(seconds), made: `${ratio} times \`node -e 0\`` };
  },
};

function secondsOfNode(): number {
  const started = performance.now();
  spawnSync(process.execPath, ['-e', '0'], { env: cleanEnvironment() });
  return (performance.now() - started) / 1000;
}

/** Milliseconds that a stack may take to be ready. */
const START_LIMIT = 60_000;

/** Milliseconds that it may take to end: it waits five seconds for running batches. */
const END_LIMIT = 15_000;

/** Environment variables passed on to processes. Ports, secrets and caches of this process must not affect them. */
const KEPT_VARIABLES = ['HOME', 'PATH', 'TMPDIR'];

const BYTES_OF_KIB = 1024;

/** A stack as `npm start` runs it, in its own process, on free ports and with the usual secret. */
export class RunningStack implements AsyncDisposable {
  readonly webhookUrl: string;
  readonly awsUrl: string;
  readonly secondsUntilReady: number;
  readonly #process: ChildProcess;

  /**
   * @param options more options of `npm start`
   * @throws Error if it is not ready in time
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
    const printed: Record<string, string> = {};
    // An aborted signal ends the loop without an error.
    for await (const line of createInterface({ input: child.stdout, signal: limit })) {
      const [, what, where] = /^\s+(Webhook|AWS)\s+(http\S+)/.exec(line) ?? [];
      if (what !== undefined && where !== undefined) printed[what] = where;
      if (line.startsWith('Ready in')) printed.seconds = String((performance.now() - started) / 1000);
      if (printed.AWS !== undefined) break;
    }
    if (printed.AWS === undefined) {
      await end(child);
      signal.throwIfAborted();
      throw new Error(
        limit.aborted
          ? `The stack was not ready after ${START_LIMIT / 1000} s`
          : 'The stack ended before it was ready',
      );
    }
    // Further output must be read, as a terminal does, so that the process does not block.
    child.stdout.resume();
    return new RunningStack(child, printed);
  }

  private constructor(child: ChildProcess, printed: Readonly<Record<string, string>>) {
    this.#process = child;
    this.webhookUrl = printed.Webhook ?? '';
    this.awsUrl = printed.AWS ?? '';
    this.secondsUntilReady = Number(printed.seconds);
  }

  /** Resident memory of its process and its descendants, in MB. @throws Error if `ps` is missing */
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

/** The environment of measured processes. */
export const cleanEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(
    KEPT_VARIABLES.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );

/** The words of the script in package.json: `node … tools/cli/commands/entry.js start`. */
function startScript(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ');
}
