import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { LocalStack } from 'local-aws';

/** Folder in which the stacks that run in this clone publish their details. */
const FOLDER = '.local';

/**
 * The outputs, in the format of `cdk deploy --outputs-file`. Other commands find the running stack by this file. If
 * several stacks run, the file describes the one that was started last. When that one stops, it describes another one.
 */
export const OUTPUTS_FILE = `${FOLDER}/outputs.json`;
/** Functions by their names on the command line: `receiver`, `shop-updated`. */
export const FUNCTIONS_FILE = `${FOLDER}/functions.json`;

export const NOT_RUNNING = 'The local stack is not running. Start it with: npm start';

/** Cached synthesis, reused by the next start if nothing has changed. */
export const SYNTHESISED_FOLDER = `${FOLDER}/synthesised`;

/** The console's address and token: `{ "url": …, "token": … }`. */
export const CONSOLE_FILE = `${FOLDER}/console.json`;

/** What commands read: copies of the files in the folder of one process. The commands begin with the outputs. */
const PUBLISHED = [FUNCTIONS_FILE, CONSOLE_FILE, OUTPUTS_FILE];

/** Has the name of that folder. */
const OWNER_FILE = `${FOLDER}/owner`;

/**
 * The folder of a process: `stack-40123-0a1b2c3d.host`. The process answers with the token at this port, because a number
 * alone says little: after a kill, another process may get it, and a container with the same clone has its own.
 */
const OF_PROCESS = /^stack-(\d+)-([0-9a-f]{8})\.(.+)$/;

const LOOPBACK = '127.0.0.1';

/** Milliseconds that a process has to answer. One that does not answer in time may be suspended or busy. */
const ANSWER_LIMIT = 1_000;

interface ConsoleAddress {
  readonly url: string;
  readonly token: string;
}

/** The parts of a running stack that other commands read. */
type DescribedStack = Pick<LocalStack, 'name' | 'outputs' | 'functions'>;

/**
 * The folder of one process in `.local`, so that processes in the same clone do not disturb each other.
 *
 * @example await using workspace = await Workspace.open();
 */
export class Workspace implements AsyncDisposable {
  readonly #folder: string;
  readonly #server: Server;

  /** Also removes the folders of processes that were killed. */
  static async open(): Promise<Workspace> {
    await mkdir(FOLDER, { recursive: true });
    // The console's token grants all actions of the console.
    await chmod(FOLDER, 0o700);
    for (const name of await foldersOfHost()) {
      if (!(await isRunning(name))) await rm(join(FOLDER, name), { recursive: true, force: true });
    }
    const token = randomUUID().slice(0, 8);
    const server = createServer((socket) => socket.on('error', () => {}).end(token)).listen(0, LOOPBACK);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const folder = join(FOLDER, `stack-${port}-${token}.${hostname()}`);
    await mkdir(folder, { mode: 0o700 });
    return new Workspace(folder, server.unref());
  }

  private constructor(folder: string, server: Server) {
    this.#folder = folder;
    this.#server = server;
  }

  /** Where this process synthesises the stack. */
  get assembly(): string {
    return this.folder('cdk.out');
  }

  /** A subfolder that is removed with this folder. */
  folder(name: string): string {
    return join(this.#folder, name);
  }

  /**
   * Makes a stack of this process visible to other commands, instead of any other stack.
   * @returns whether another stack was visible before
   */
  async publish(stack: DescribedStack, console: ConsoleAddress): Promise<boolean> {
    const isOther = await this.#isOtherVisible();
    await this.#write(CONSOLE_FILE, console);
    await this.#describe(stack);
    await show(basename(this.#folder));
    return isOther;
  }

  /** Updates the details of the published stack. If another stack was started later, that one stays visible. */
  async update(stack: DescribedStack): Promise<void> {
    await this.#describe(stack);
    if (!(await this.#isOtherVisible())) await show(basename(this.#folder));
  }

  /** Removes the folder. Other commands then find another stack that still runs, if there is one. */
  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    this.#server.close();
    if (await this.#isOtherVisible()) return;
    const isDescribed = (name: string) => existsSync(join(FOLDER, name, basename(OUTPUTS_FILE)));
    for (const name of await foldersOfHost()) {
      if (isDescribed(name) && (await isRunning(name))) return show(name);
    }
    await Promise.all([...PUBLISHED, OWNER_FILE].map((file) => rm(file, { force: true })));
  }

  async #describe({ name, outputs, functions }: DescribedStack): Promise<void> {
    const definitions = [...functions].map(([service, { definition }]) => [service, definition]);
    await this.#write(FUNCTIONS_FILE, Object.fromEntries(definitions));
    await this.#write(OUTPUTS_FILE, { [name]: outputs });
  }

  async #write(file: string, value: object): Promise<void> {
    const text = `${JSON.stringify(value, undefined, 2)}\n`;
    await writeFile(this.folder(basename(file)), text, { mode: 0o600 });
  }

  /** Whether the files are of another stack, whose folder still exists. */
  async #isOtherVisible(): Promise<boolean> {
    const owner = await readFile(OWNER_FILE, 'utf8').catch(() => '');
    return owner !== basename(this.#folder) && (await readdir(FOLDER)).includes(owner);
  }
}

const foldersOfHost = async () =>
  (await readdir(FOLDER)).filter((name) => OF_PROCESS.exec(name)?.[3] === hostname());

/** @param folder name of the folder of a process of this machine */
async function isRunning(folder: string): Promise<boolean> {
  const [, port, token] = OF_PROCESS.exec(folder) ?? [];
  const socket = connect(Number(port), LOOPBACK);
  try {
    const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_LIMIT) });
    return String(answer) === token;
  } catch (error) {
    return (error as Error).name === 'AbortError';
  } finally {
    socket.destroy();
  }
}

/** Makes the stack of a folder visible to other commands. */
async function show(name: string): Promise<void> {
  await writeFile(OWNER_FILE, name);
  for (const file of PUBLISHED) {
    // Rename is atomic, so that concurrent readers never see half a file.
    const copy = `${file}.${randomUUID()}`;
    await copyFile(join(FOLDER, name, basename(file)), copy);
    await rename(copy, file);
  }
}
