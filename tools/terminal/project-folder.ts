import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { UsageError } from './command-error.ts';
import { STANDARD_INPUT } from './files.ts';

/** Absolute path of the folder in which the user typed the command. Empty if that is the project's folder. */
let typedIn = '';

/**
 * Makes the project's folder the working directory, as npm does for scripts, so that `hookctl` works in any
 * folder of the project.
 * @throws UsageError outside of a project
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
  if (root === folder) return;
  typedIn = folder;
  process.chdir(root);
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
