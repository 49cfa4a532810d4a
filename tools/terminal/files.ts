import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { CommandError, UsageError } from './command-error.ts';

/** Name that stands for standard input instead of a file. */
export const STANDARD_INPUT = '-';

/** Absolute path of the folder in which the user typed the command. Empty if that is the project's folder. */
let typedIn = '';

/**
 * Makes the project's folder the working directory, as npm does for scripts, so that `hookctl` works in any
 * folder of the project.
 * @throws UsageError outside of a project, or if the code of another checkout would run
 */
export function enterProject(): void {
  const folder = process.cwd();
  let root = folder;
  while (!existsSync(join(root, 'tools/hookctl.js'))) {
    if (root === dirname(root)) {
      throw new UsageError('hookctl works only in the folder of the project, and in the folders inside it');
    }
    root = dirname(root);
  }
  requireOwnCode(root);
  if (root === folder) return;
  typedIn = folder;
  process.chdir(root);
}

/** The code, the packages and the files must be of one checkout: each has its own version of both. */
function requireOwnCode(root: string): void {
  const own = dirname(realpathSync(join(root, 'tools')));
  const code = join(import.meta.dirname, '../..');
  const other = code === own ? dirname(realpathSync(join(root, 'node_modules'))) : code;
  if (other === own) return;
  throw new UsageError(
    `In ${own}, hookctl would run the code of ${other}: node_modules is a link, or PATH has another checkout's node_modules/.bin. Run npm ci in ${own}, and type npx hookctl there`,
  );
}

/**
 * Converts a typed path, which is relative to the folder where it was typed.
 * @returns the path relative to the project's folder; `-` for standard input is not changed
 */
export function typedPath(path: string): string {
  return typedIn === '' || path === STANDARD_INPUT || isAbsolute(path)
    ? path
    : relative('', join(typedIn, path));
}

const REASONS: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => `No file ${file}`,
  EISDIR: (file) => `${file} is a folder, not a file`,
  EACCES: (file) => `Permission denied: ${file}`,
};

/**
 * The bytes of a file named on the command line.
 * @throws CommandError if the file cannot be read
 */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new CommandError(REASONS[code]?.(file) ?? message);
  }
}

/**
 * The JSON in a file named on the command line.
 * @throws CommandError if the file cannot be read, or is not JSON
 */
export function readJson(file: string): unknown {
  const text = readBytes(file).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${file} is not JSON`);
  }
}

/** Destination of exported lines: standard output, or a file that must not exist yet. */
export class ExportDestination implements AsyncDisposable {
  readonly #path: string | undefined;
  #file: FileHandle | undefined;
  /** The last pending write. Several sources write at the same time, and their lines must not mix. */
  #last: Promise<void> = Promise.resolve();

  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** @throws CommandError if the file exists already, or cannot be written */
  write(line: string): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (this.#path === undefined) return writeOut(line);
      this.#file ??= await createExport(this.#path);
      await this.#file.write(line);
    });
    return this.#last;
  }

  /** Also waits until the lines are on the disk: the original may be deleted next. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.sync();
    await this.#file?.close();
  }
}

/** Creates the file so that only its owner can read it, because it contains personal data. */
async function createExport(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new CommandError(`No folder ${dirname(path)}`);
    if (code !== 'EEXIST') throw new CommandError(message);
    throw new CommandError(
      statSync(path).isDirectory()
        ? `${path} is a folder, not a file`
        : `${path} exists already: name another file, or delete it first`,
    );
  }
}

/**
 * Writes to standard output. A closed pipe is handled in `program.ts`.
 * @throws CommandError if standard output cannot be written
 */
function writeOut(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(line, (error: NodeJS.ErrnoException | null | undefined) => {
      if (error && error.code !== 'EPIPE')
        reject(new CommandError(`The export is incomplete: ${error.message}`));
      else resolve();
    });
  });
}
