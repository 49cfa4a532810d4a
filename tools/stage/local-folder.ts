import { chmod, copyFile, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FunctionDefinition } from '../../local/functions/function-definition.ts';
import type { LocalStack } from '../../local/local-stack.ts';

/** Where stacks that run in this clone say what they are. */
const FOLDER = '.local';

/** What other commands find the running stack by: of several that of the one that was started last. */
export const OUTPUTS_FILE = `${FOLDER}/outputs.json`;
export const FUNCTIONS_FILE = `${FOLDER}/functions.json`;

/** What is said where they find none. */
export const NOT_RUNNING = 'The local stack is not running. Start it with: npm start';

/** What stacks that are started with `--keep` go on with. */
export const KEPT_FOLDER = `${FOLDER}/kept`;

/** What starts synthesised, for the next one where nothing has changed since. */
export const SYNTHESISED_FOLDER = `${FOLDER}/synthesised`;

/** The console's address and token: `{ "url": …, "token": … }`. Absent where the stack was started without. */
export const CONSOLE_FILE = `${FOLDER}/console.json`;

const PUBLISHED = [OUTPUTS_FILE, FUNCTIONS_FILE, CONSOLE_FILE];

/**
 * What is kept holds payloads and the secret, and whoever has the console's token may do all that the console can: both
 * are for their owner alone.
 */
const OWNER_ONLY = { folder: 0o700, file: 0o600 };

/** What a running stack leaves for other commands. */
interface StackDescription {
  /** As `cdk deploy --outputs-file` writes them. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By the name on the command line: `receiver`, `shop-updated`. */
  readonly functions: Readonly<Record<string, FunctionDefinition>>;
  /** The page that shows it. */
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
 * The folder of one process in `.local`: nothing that two of them do in one clone disturbs the other.
 *
 * @example
 * await using workspace = await Workspace.open();
 */
export class Workspace implements AsyncDisposable {
  readonly #folder: string;

  /** Also takes away what processes left that were killed. */
  static async open(): Promise<Workspace> {
    await mkdir(FOLDER, { recursive: true });
    await chmod(FOLDER, OWNER_ONLY.folder);
    for (const name of await readdir(FOLDER)) {
      const pid = /^(?:.*\.json\.)?(\d+)$/.exec(name)?.[1];
      // The number of a killed process may be this one's by now.
      const isGone = pid !== undefined && (Number(pid) === process.pid || !isRunning(Number(pid)));
      if (isGone) await rm(join(FOLDER, name), { recursive: true, force: true });
    }
    const workspace = new Workspace(join(FOLDER, String(process.pid)));
    await mkdir(workspace.#folder, { recursive: true, mode: OWNER_ONLY.folder });
    return workspace;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Where this process synthesises the stack to. */
  get assembly(): string {
    return this.folder('cdk.out');
  }

  /** A folder that is removed with this one. */
  folder(name: string): string {
    return join(this.#folder, name);
  }

  /** Lets other commands find a stack that runs in this process. @returns whether another one was there */
  async publish(description: StackDescription): Promise<boolean> {
    const others = await described();
    await this.#write(description);
    await point(this.#folder);
    return others.length > 0;
  }

  /** Says what the published stack is by now. A stack that was started later stays the one that is found. */
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
    if (await pointToLatest()) return;
    await Promise.all(PUBLISHED.map((file) => rm(file, { force: true })));
    // One may have been published just now.
    await pointToLatest();
  }
}

/** Lets other commands find the stack that was started last. @returns whether there is one */
async function pointToLatest(): Promise<boolean> {
  for (const folder of await described()) {
    try {
      await point(folder);
      return true;
    } catch (error) {
      // It has stopped meanwhile.
      if (!isMissing(error)) throw error;
    }
  }
  return false;
}

/** Folders of running stacks, the one that was started last first. */
async function described(): Promise<string[]> {
  const started = await Promise.all(
    (await readdir(FOLDER))
      .filter((name) => /^\d+$/.test(name) && isRunning(Number(name)))
      .map(async (name) => {
        const folder = join(FOLDER, name);
        const description = await stat(join(folder, 'functions.json')).catch(() => undefined);
        return description && { folder, at: description.mtimeMs };
      }),
  );
  return started
    .filter((one) => one !== undefined)
    .sort((a, b) => b.at - a.at)
    .map(({ folder }) => folder);
}

/** Copies what a stack says of itself to where the other commands look. @throws Error ENOENT where it is gone */
async function point(folder: string): Promise<void> {
  for (const file of PUBLISHED) {
    // In one step, for whoever reads at the same time.
    const copy = `${file}.${process.pid}`;
    try {
      await copyFile(join(folder, file.slice(FOLDER.length + 1)), copy);
      await rename(copy, file);
    } catch (error) {
      if (file !== CONSOLE_FILE || !isMissing(error)) throw error;
      // That of another stack would show what is not this one's.
      await rm(file, { force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
