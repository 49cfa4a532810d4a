import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
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

/** The console's address and token: `{ "url": …, "token": … }`. */
export const CONSOLE_FILE = `${FOLDER}/console.json`;

/** Has the name of the folder of the process that wrote the other files. */
const OWNER_FILE = `${FOLDER}/owner`;

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
 * The folder of one process in `.local`, so that processes in the same clone do not disturb each other. Its name has the
 * host, because a container with the same clone has other processes.
 *
 * @example await using workspace = await Workspace.open();
 */
export class Workspace implements AsyncDisposable {
  readonly #folder: string;

  /** Also removes the folders of processes that were killed. */
  static async open(): Promise<Workspace> {
    await mkdir(FOLDER, { recursive: true });
    // The console's token grants all actions of the console.
    await chmod(FOLDER, 0o700);
    const ofHost = `stack-${hostname()}-`;
    for (const name of await readdir(FOLDER)) {
      if (!name.startsWith(ofHost) || isRunning(Number.parseInt(name.slice(ofHost.length), 10))) continue;
      await rm(join(FOLDER, name), { recursive: true, force: true });
    }
    return new Workspace(await mkdtemp(join(FOLDER, `${ofHost}${process.pid}-`)));
  }

  private constructor(folder: string) {
    this.#folder = folder;
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
  async publish({ console, ...description }: StackDescription): Promise<boolean> {
    const isOther = await this.#isOtherVisible();
    await write(OWNER_FILE, basename(this.#folder));
    if (console === undefined) await rm(CONSOLE_FILE, { force: true });
    else await write(CONSOLE_FILE, json(console));
    await writeDescription(description);
    return isOther;
  }

  /** Updates the details of the published stack. If another stack was started later, that one stays visible. */
  async update(description: StackDescription): Promise<void> {
    if (!(await this.#isOtherVisible())) await writeDescription(description);
  }

  /** Removes the folder, and what other commands read of this stack. */
  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    if (await this.#isOtherVisible()) return;
    const files = [OUTPUTS_FILE, FUNCTIONS_FILE, CONSOLE_FILE, OWNER_FILE];
    await Promise.all(files.map((file) => rm(file, { force: true })));
  }

  /** Whether the files are of another stack, whose folder still exists. */
  async #isOtherVisible(): Promise<boolean> {
    const owner = await readFile(OWNER_FILE, 'utf8').catch(() => '');
    return owner !== basename(this.#folder) && (await readdir(FOLDER)).includes(owner);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs for somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function writeDescription({ outputs, functions }: StackDescription): Promise<void> {
  await write(FUNCTIONS_FILE, json(functions));
  await write(OUTPUTS_FILE, json(outputs));
}

/** Rename is atomic, so that concurrent readers never see half a file. */
async function write(file: string, text: string): Promise<void> {
  const copy = `${file}.${randomUUID()}`;
  await writeFile(copy, text, { mode: 0o600 });
  await rename(copy, file);
}

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
