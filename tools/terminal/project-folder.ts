import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { UsageError } from './command-error.ts';
import { STANDARD_INPUT } from './files.ts';

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
