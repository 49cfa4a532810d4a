import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether two folders, which have no subfolders, have the same files. */
export async function isSameCode(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  const [names, otherNames] = await Promise.all([sortedFiles(one), sortedFiles(other)]);
  if (names.join('/') !== otherNames.join('/')) return false;
  const same = await Promise.all(
    names.map(async (name) => (await readFile(join(one, name))).equals(await readFile(join(other, name)))),
  );
  return same.every(Boolean);
}

const sortedFiles = async (folder: string) => (await readdir(folder)).sort();
