import { readFileSync } from 'node:fs';
import { CommandError } from './command-error.ts';

const REASONS: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => `No file ${file}`,
  EISDIR: (file) => `${file} is a folder, not a file`,
  EACCES: (file) => `Permission denied: ${file}`,
};

/** The bytes of a file that was named on the command line. @throws CommandError if it cannot be read */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new CommandError(REASONS[code]?.(file) ?? message);
  }
}

/** What such a file holds as JSON. @throws CommandError */
export function readJson(file: string): unknown {
  const text = readBytes(file).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${file} is not JSON`);
  }
}
