import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/**
 * Of the names and the content of files, and of all files in folders: what has an extension is a file. One that is not
 * there counts as such.
 * @param besides what else it is of
 */
export function filesDigest(paths: readonly string[], besides: unknown): string {
  const files = paths
    .filter(existsSync)
    .flatMap((path) =>
      extname(path) !== ''
        ? [path]
        : readdirSync(path, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map(({ parentPath, name }) => join(parentPath, name)),
    )
    .sort();
  const hash = createHash('sha256').update(JSON.stringify(besides));
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest('hex');
}
