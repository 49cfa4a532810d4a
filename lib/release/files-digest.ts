import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Of the names and the content of files, and of all files in folders, also where a symbolic link leads to them. One that
 * is not there counts as such.
 * @param besides what else it is of
 */
export function filesDigest(paths: readonly string[], besides: unknown): string {
  const files = paths.flatMap((path) => filesIn(path)).sort();
  const hash = createHash('sha256').update(JSON.stringify(besides));
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

/** @param above folders that it was reached through: a link to one of them leads nowhere new */
function filesIn(path: string, above: readonly string[] = []): string[] {
  if (!existsSync(path)) return [];
  const kind = statSync(path);
  if (!kind.isDirectory()) return kind.isFile() ? [path] : [];
  const real = realpathSync(path);
  if (above.includes(real)) return [];
  return readdirSync(path).flatMap((name) => filesIn(join(path, name), [...above, real]));
}
