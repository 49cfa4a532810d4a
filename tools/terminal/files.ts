import { readFileSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from './command-error.ts';

/** Name that stands for standard input instead of a file. */
export const STANDARD_INPUT = '-';

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
    this.#last = this.#last.then(() => this.#write(line));
    return this.#last;
  }

  async #write(line: string): Promise<void> {
    if (this.#path === undefined) {
      await writeOut(line);
      return;
    }
    this.#file ??= await this.#create(this.#path);
    await this.#file.write(line);
  }

  /** Creates the file so that only its owner can read it, because it contains personal data. */
  async #create(path: string): Promise<FileHandle> {
    try {
      return await open(path, 'wx', 0o600);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') {
        throw new CommandError(
          statSync(path).isDirectory()
            ? `${path} is a folder, not a file`
            : `${path} exists already: name another file, or delete it first`,
        );
      }
      if (code === 'ENOENT') throw new CommandError(`No folder ${dirname(path)}`);
      throw new CommandError(message);
    }
  }

  /** Also waits until the lines are on the disk: the original may be deleted next. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.sync();
    await this.#file?.close();
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
