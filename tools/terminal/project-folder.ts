import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { UsageError } from './command-error.ts';
import { STANDARD_INPUT } from './files.ts';

/** Absolute path of the folder in which the command line was typed. Empty: the project's folder. */
let typedIn = '';

/**
 * Makes the project's folder the working directory, as npm does for scripts. `hookctl` may be typed in any folder of
 * the project.
 * @throws UsageError outside a project
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
 * A typed path is relative to the folder in which it was typed.
 * @returns it, relative to the project's folder; `-`, which is standard input, stays
 */
export function typedPath(path: string): string {
  return typedIn === '' || path === STANDARD_INPUT || isAbsolute(path)
    ? path
    : relative('', join(typedIn, path));
}
