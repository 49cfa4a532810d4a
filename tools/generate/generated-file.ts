import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** A generated file that is checked in, so that reviews show its changes. */
export interface GeneratedFile {
  /** Relative to the project's root. */
  readonly file: string;
  /** The generated text. Undefined: the file must not exist. */
  readonly text: string | undefined;
}

/** Whether the file has its generated text. */
export function isUpToDate({ file, text }: GeneratedFile): boolean {
  return (existsSync(file) ? readFileSync(file, 'utf8') : undefined) === text;
}

export function bringUpToDate({ file, text }: GeneratedFile): void {
  if (text === undefined) rmSync(file);
  else writeFileSync(file, text);
}
