import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { testAssembly } from '../../../support/test-stack.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  /** All that it wrote so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
  /** What Ctrl-C does: the terminal interrupts every process of the command. */
  interrupt(): void;
}

const ROOT = resolve('.');

/** What a command leaves behind, and what is a working copy's own. */
const NOT_LINKED = new Set(['.local', '.git', 'cdk.out', 'coverage', 'package.json']);

/** Variables that commands take settings from, or that Jest sets for itself. */
const SETTINGS = ['PORT', 'AWS_PORT', 'CONSOLE_PORT', 'WEBHOOK_SECRET', 'NODE_OPTIONS'];

/**
 * A folder that is this project in everything but `.local`: what runs in it neither finds nor disturbs a
 * stack that is running in the project itself.
 */
export class Project {
  readonly #folder: string;

  /** @param settings `copied` are folders that a test changes files of */
  static async create({
    neededNode,
    copied = [],
  }: {
    neededNode?: string;
    copied?: readonly string[];
  } = {}): Promise<Project> {
    const folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-project-'));
    for (const name of await readdir(ROOT)) {
      if (copied.includes(name)) await cp(name, join(folder, name), { recursive: true });
      else if (!NOT_LINKED.has(name)) await symlink(join(ROOT, name), join(folder, name));
    }
    const description = JSON.parse(await readFile('package.json', 'utf8'));
    if (neededNode !== undefined) description.devDependencies.node = neededNode;
    await writeFile(join(folder, 'package.json'), JSON.stringify(description));
    // What one project has synthesised, those with the same code need not.
    const synthesised = join(dirname(testAssembly()), 'synthesised');
    await mkdir(synthesised, { recursive: true });
    await mkdir(join(folder, '.local'));
    await symlink(synthesised, join(folder, '.local/synthesised'));
    return new Project(folder);
  }

  constructor(folder: string) {
    this.#folder = folder;
  }

  path(file: string): string {
    return join(this.#folder, file);
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  /** Runs one command of `tools/cli/commands/entry.js` to its end. */
  run(args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
    return this.start(args, environment).ended;
  }

  /**
   * Starts one command of `tools/cli/commands/entry.js`, without npm around it.
   */
  start(args: readonly string[], environment: Record<string, string> = {}): Running {
    return this.spawn([process.execPath, 'tools/cli/commands/entry.js', ...args], environment);
  }

  spawn([command = '', ...args]: readonly string[], environment: Record<string, string> = {}): Running {
    const inherited = Object.entries(process.env).filter(([name]) => !SETTINGS.includes(name));
    const child = spawn(command, args, {
      cwd: this.#folder,
      env: {
        ...Object.fromEntries(inherited),
        PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
        // Several stacks run at a time, and what a developer runs beside the tests has the usual one.
        CONSOLE_PORT: '0',
        ...environment,
      },
      // In a process group of its own, as a terminal gives each command.
      detached: true,
    });
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
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
      },
    };
  }
}

/** Something else that listens, on a free port. */
export async function occupyPort(host = '127.0.0.1'): Promise<{ port: number; server: Server }> {
  const server = createServer();
  await once(server.listen({ port: 0, host }), 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const { port, server } = await occupyPort();
  await once(server.close(), 'close');
  return port;
}
