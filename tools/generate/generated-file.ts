import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** A generated file that is checked in, so that reviews show its changes. */
export interface GeneratedFile {
  /** Relative to the project's root. */
  readonly file: string;
  readonly text: string;
}

/** Whether the file has its generated text. */
export function isUpToDate({ file, text }: GeneratedFile): boolean {
  return existsSync(file) && readFileSync(file, 'utf8') === text;
}

export const bringUpToDate = ({ file, text }: GeneratedFile) => writeFileSync(file, text);
