import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CommanderError } from '@commander-js/extra-typings';
import { eventually } from '../../../test/support/eventually.ts';
import { testAssembly } from '../../../test/support/test-assembly.ts';
import { hookctl, messageOf } from '../../program.ts';
import { SYNTHESISED_FOLDER } from '../../stage/local-folder.ts';
import { writeAssembly } from '../../start/local-assembly.ts';
import { USAGE_ERROR, UsageError } from '../../terminal/command-error.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
  /** Interrupts every process of the command, as Ctrl-C does. */
  interrupt(): void;
}

type Environment = Readonly<Record<string, string>>;

const ROOT = resolve('.');

/** Names that are not linked: output of commands, and files that each working copy must have for itself. */
const NOT_LINKED = new Set(['.local', '.git', 'cdk.out', 'coverage']);

/** Environment variables that change commands, and those that Jest sets. They are removed. */
const SETTINGS = ['PORT', 'AWS_PORT', 'CONSOLE_PORT', 'WEBHOOK_SECRET', 'NODE_OPTIONS'];

/**
 * A folder with links to the files of this project, but with its own `.local`: its commands neither find nor
 * disturb a stack that runs in the project itself.
 */
export class Project {
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];

  /** @param copied files and folders that a test changes, or that must not be found through a link */
  static async create(...copied: readonly string[]): Promise<Project> {
    const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-project-'));
    for (const name of await readdir(ROOT)) {
      if (copied.includes(name)) await cp(name, join(folder, name), { recursive: true });
      else if (!NOT_LINKED.has(name)) await symlink(join(ROOT, name), join(folder, name));
    }
    if (copied.includes('tools')) await ownPackages(folder);
    await mkdir(join(folder, '.local'));
    return new Project(folder);
  }

  constructor(folder: string) {
    this.#folder = folder;
  }

  path(file: string): string {
    return join(this.#folder, file);
  }

  /**
   * Stores a cloud assembly where `npm start` finds it, as if an earlier start had made it: a synthesis takes seconds.
   * @param overrides of the context that it was synthesised with
   */
  async cacheAssembly(
    assembly = testAssembly(),
    overrides: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const synthesise = (folder: string) => cp(assembly, folder, { recursive: true });
    const before = process.cwd();
    process.chdir(this.#folder);
    try {
      await writeAssembly('.local/unused', overrides, { cache: SYNTHESISED_FOLDER, synthesise });
      await rm('.local/unused', { recursive: true });
    } finally {
      process.chdir(before);
    }
  }

  /** Also kills commands that a failed test left running: Jest would wait for them. */
  async remove(): Promise<void> {
    for (const { pid, exitCode, signalCode } of this.#children) {
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  /**
   * Runs a command in this process, in the project's folder. A process of its own takes half a second to
   * start.
   * @param environment variables that are set during the command
   */
  async type(args: readonly string[], environment: Environment = {}): Promise<Ended> {
    const stdout: string[] = [];
    const stderr: string[] = [];
    const written = () => ({ stdout: stdout.join(''), stderr: stderr.join('') });
    const program = await hookctl(args);
    for (const each of program.commands.flatMap((one) => [one, ...one.commands]).concat(program)) {
      each.exitOverride().configureOutput({
        writeOut: (text) => stdout.push(text),
        writeErr: (text) => stderr.push(text),
      });
    }
    const before = { folder: process.cwd(), env: process.env, log: console.log, error: console.error };
    const stopListening = signalListenerCleanup();
    process.chdir(this.#folder);
    process.env = { ...before.env, ...environment };
    process.exitCode = undefined;
    console.log = (text = '') => stdout.push(`${text}\n`);
    console.error = (text = '') => stderr.push(`${text}\n`);
    try {
      await program.parseAsync(args, { from: 'user' });
      return { code: Number(process.exitCode ?? 0), ...written() };
    } catch (error) {
      if (error instanceof CommanderError) return { code: error.exitCode && USAGE_ERROR, ...written() };
      const message = await messageOf(error);
      if (typeof message !== 'string') throw error;
      stderr.push(`${message}\n`);
      return { code: error instanceof UsageError ? USAGE_ERROR : 1, ...written() };
    } finally {
      process.chdir(before.folder);
      process.env = before.env;
      process.exitCode = undefined;
      Object.assign(console, { log: before.log, error: before.error });
      stopListening();
    }
  }

  /** Runs a `hookctl` command and waits for its end. */
  run(args: readonly string[], environment: Environment = {}): Promise<Ended> {
    return this.start(args, environment).ended;
  }

  /** Starts a `hookctl` command, without npm. */
  start(args: readonly string[], environment: Environment = {}): Running {
    return this.spawn([process.execPath, 'tools/hookctl.js', ...args], environment);
  }

  /** Starts a stack with these options and waits until it is ready. */
  async startStack(...options: readonly string[]): Promise<Running> {
    const running = this.start(['start', ...options]);
    await eventually(async () => {
      if (running.process.exitCode !== null) throw new Error((await running.ended).stderr);
      return /Ready in|Another stack/.test(running.stdout()) || undefined;
    });
    return running;
  }

  spawn([command = '', ...args]: readonly string[], environment: Environment = {}): Running {
    const inherited = Object.entries(process.env).filter(([name]) => !SETTINGS.includes(name));
    const child = spawn(command, args, {
      cwd: this.#folder,
      env: {
        ...Object.fromEntries(inherited),
        PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
        // Several stacks run at the same time, and a developer's own stack may use the default port.
        CONSOLE_PORT: '0',
        ...environment,
      },
      // A process group of its own, as a terminal gives each command.
      detached: true,
    });
    this.#children.push(child);
    const written = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        written[stream] += text;
      });
    }
    return {
      process: child,
      stdout: () => written.stdout,
      stderr: () => written.stderr,
      ended: once(child, 'close').then(([code]) => ({ code, ...written })),
      interrupt: () => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
      },
    };
  }
}

/** Replaces the link to `node_modules`: hookctl refuses packages of another checkout than its own. */
async function ownPackages(folder: string): Promise<void> {
  const packages = join(folder, 'node_modules');
  await rm(packages);
  await mkdir(packages);
  for (const name of await readdir('node_modules')) {
    await symlink(join(ROOT, 'node_modules', name), join(packages, name));
  }
}

/** What a command with an error prints: one line on standard error. */
export const refusal = (line: unknown, code = 1) => ({
  code,
  stdout: '',
  stderr: typeof line === 'string' ? `${line}\n` : line,
});

/** Starts another server on a free port. */
export async function occupyPort(host = '127.0.0.1'): Promise<{ port: number; server: Server }> {
  const server = createServer();
  await once(server.listen({ port: 0, host }), 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

export async function freePort(): Promise<number> {
  const { port, server } = await occupyPort();
  await once(server.close(), 'close');
  return port;
}

/** @returns a function that removes signal listeners added since this call: a command listens until its process ends */
function signalListenerCleanup(): () => void {
  const before = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(
    (signal) => [signal, process.listeners(signal)] as const,
  );
  return () => {
    for (const [signal, known] of before) {
      const added = process.listeners(signal).filter((listener) => !known.includes(listener));
      for (const listener of added) process.off(signal, listener);
    }
  };
}
