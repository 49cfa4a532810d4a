import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** A file that is checked in although it follows from other files, so that a change of it is seen in review. */
export interface DerivedFile {
  /** From the project's root. */
  readonly file: string;
  /** What the code makes of it; undefined: it must not be there. */
  readonly text: string | undefined;
}

/** Whether a file is what the code makes of it. */
export function isUpToDate({ file, text }: DerivedFile): boolean {
  return (existsSync(file) ? readFileSync(file, 'utf8') : undefined) === text;
}

/** Makes a file what the code makes of it. */
export function bringUpToDate({ file, text }: DerivedFile): void {
  if (text === undefined) rmSync(file);
  else writeFileSync(file, text);
}
