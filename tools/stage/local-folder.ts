import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { LocalStack } from 'local-aws';
import type { FunctionDefinition } from 'local-aws/functions';

/** Folder in which the stacks that run in this clone publish their details. */
const FOLDER = '.local';

/**
 * Other commands find the running stack by this file. If several stacks run, the file describes the one that was
 * started last.
 */
export const OUTPUTS_FILE = `${FOLDER}/outputs.json`;
export const FUNCTIONS_FILE = `${FOLDER}/functions.json`;

export const NOT_RUNNING = 'The local stack is not running. Start it with: npm start';

/** Cached synthesis, reused by the next start if nothing has changed. */
export const SYNTHESISED_FOLDER = `${FOLDER}/synthesised`;

/** The console's address and token: `{ "url": …, "token": … }`. Absent if the stack runs without a console. */
export const CONSOLE_FILE = `${FOLDER}/console.json`;

const PUBLISHED = [OUTPUTS_FILE, FUNCTIONS_FILE, CONSOLE_FILE];

/**
 * Readable only by the owner: the console's token grants all actions of the console.
 */
const OWNER_ONLY = { folder: 0o700, file: 0o600 };

/** Details that a running stack publishes for other commands. */
interface StackDescription {
  /** In the format of `cdk deploy --outputs-file`. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Functions by their names on the command line: `receiver`, `shop-updated`. */
  readonly functions: Readonly<Record<string, FunctionDefinition>>;
  readonly console?: { readonly url: string; readonly token: string };
}

export function describeStack({
  name,
  outputs,
  functions,
}: Pick<LocalStack, 'name' | 'outputs' | 'functions'>): StackDescription {
  return {
    outputs: { [name]: outputs },
    functions: Object.fromEntries([...functions].map(([service, { definition }]) => [service, definition])),
  };
}

/**
 * The folder of one process in `.local`, so that processes in the same clone do not disturb each other. The process
 * answers at a port of its own, because its number alone says little: after a kill another process may get it, and a
 * container with the same clone has other numbers.
 *
 * @example await using workspace = await Workspace.open();
 */
export class Workspace implements AsyncDisposable {
  readonly #folder: string;
  readonly #server: Server;

  /** Also removes the folders of processes that were killed. */
  static async open(): Promise<Workspace> {
    await mkdir(FOLDER, { recursive: true });
    await chmod(FOLDER, OWNER_ONLY.folder);
    for (const name of await folders()) {
      if ((await stateOf(name)) === 'gone') await rm(join(FOLDER, name), { recursive: true, force: true });
    }
    const name = `stack-${randomUUID().slice(0, 8)}`;
    const server = createServer((socket) => socket.on('error', () => {}).end(name)).listen(0, LOOPBACK);
    await once(server, 'listening');
    const workspace = new Workspace(join(FOLDER, name), server.unref());
    await mkdir(workspace.#folder, { mode: OWNER_ONLY.folder });
    const owner: FolderOwner = { host: hostname(), port: (server.address() as AddressInfo).port };
    await writeFile(join(workspace.#folder, OWNER_FILE), json(owner));
    return workspace;
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
   * Makes a stack of this process visible to other commands.
   * @returns whether another stack was visible before
   */
  async publish(description: StackDescription): Promise<boolean> {
    const others = await described();
    await this.#write(description);
    await point(this.#folder);
    return others.length > 0;
  }

  /** Updates the details of the published stack. If another stack was started later, that one stays visible. */
  async update(description: StackDescription): Promise<void> {
    const [latest] = await described();
    const { atime, mtime } = await stat(join(this.#folder, 'functions.json'));
    await this.#write(description);
    await utimes(join(this.#folder, 'functions.json'), atime, mtime);
    if (latest === this.#folder) await point(this.#folder);
  }

  async #write({ outputs, functions, console }: StackDescription): Promise<void> {
    await writeFile(join(this.#folder, 'outputs.json'), json(outputs));
    if (console !== undefined) {
      await writeFile(join(this.#folder, 'console.json'), json(console), { mode: OWNER_ONLY.file });
    }
    await writeFile(join(this.#folder, 'functions.json'), json(functions));
  }

  /** Removes the folder. Other commands then find the stack that was started before this one, if it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    this.#server.close();
    if (await pointToLatest()) return;
    await Promise.all(PUBLISHED.map((file) => rm(file, { force: true })));
    // Another process may have published a stack in the meantime.
    await pointToLatest();
  }
}

/**
 * Makes the stack that was started last visible to other commands.
 * @returns whether there is one
 */
async function pointToLatest(): Promise<boolean> {
  for (const folder of await described()) {
    try {
      await point(folder);
      return true;
    } catch (error) {
      // The stack has stopped in the meantime.
      if (!isMissing(error)) throw error;
    }
  }
  return false;
}

/** Folders of stacks that run, newest start first, then those that nobody can ask. */
async function described(): Promise<string[]> {
  const started = await Promise.all(
    (await folders()).map(async (name) => {
      const state = await stateOf(name);
      const description = await stat(join(FOLDER, name, 'functions.json')).catch(() => undefined);
      return description && { folder: join(FOLDER, name), state, at: description.mtimeMs };
    }),
  );
  const all = started.filter((one) => one !== undefined).sort((a, b) => b.at - a.at);
  return ['running', 'elsewhere'].flatMap((state) =>
    all.filter((one) => one.state === state).map(({ folder }) => folder),
  );
}

const folders = async () => (await readdir(FOLDER)).filter((name) => /^stack-[0-9a-f]{8}$/.test(name));

/** Has a {@link FolderOwner}. */
const OWNER_FILE = 'owner.json';

interface FolderOwner {
  readonly host: string;
  /** Where the process answers with the name of its folder. */
  readonly port: number;
}

const LOOPBACK = '127.0.0.1';

/** Milliseconds that a process has to answer. A process that does not answer in time may be suspended or busy. */
const ANSWER_LIMIT = 1_000;

/** Whether the process of a folder runs. `elsewhere`: it may run on another machine, such as a container. */
async function stateOf(name: string): Promise<'running' | 'gone' | 'elsewhere'> {
  // It is missing while its process creates or removes the folder.
  const owner = await readFile(join(FOLDER, name, OWNER_FILE), 'utf8').catch(() => '{}');
  const { host, port = 0 } = JSON.parse(owner) as Partial<FolderOwner>;
  if (host !== hostname()) return 'elsewhere';
  const socket = connect(port, LOOPBACK);
  try {
    const signal = AbortSignal.timeout(ANSWER_LIMIT);
    const [answer] = await once(socket, 'data', { signal });
    return String(answer) === name ? 'running' : 'gone';
  } catch (error) {
    return (error as Error).name === 'AbortError' ? 'running' : 'gone';
  } finally {
    socket.destroy();
  }
}

/**
 * Copies the details of a stack to the files that other commands read.
 * @throws Error ENOENT if the stack has stopped
 */
async function point(folder: string): Promise<void> {
  for (const file of PUBLISHED) {
    // Rename is atomic, so that concurrent readers never see half a file.
    const copy = `${file}.${randomUUID()}`;
    try {
      await copyFile(join(folder, file.slice(FOLDER.length + 1)), copy);
      await rename(copy, file);
    } catch (error) {
      if (file !== CONSOLE_FILE || !isMissing(error)) throw error;
      // Removes the console file of another stack, which would otherwise stay.
      await rm(file, { force: true });
    }
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
