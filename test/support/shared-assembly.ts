import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { synthesise } from '../../local/template/synthesise.ts';
import { eventually } from './eventually.ts';
import { testAssembly } from './test-stack.ts';

/**
 * A cloud assembly that the first test file that asks for it synthesises, for all that do.
 * @param name of its own among all of them
 * @param overrides of the context in `cdk.json`
 * @returns its folder
 */
export async function sharedAssembly(name: string, overrides: Record<string, unknown>): Promise<string> {
  const folder = join(dirname(testAssembly()), name);
  const assembly = join(folder, 'cdk.out');
  const failure = join(folder, 'failure');
  if (await isFirst(folder)) {
    const unfinished = join(folder, 'unfinished');
    await synthesise(unfinished, overrides).then(
      () => rename(unfinished, assembly),
      (error) => writeFile(failure, String(error)),
    );
  }
  await eventually(async () => existsSync(assembly) || existsSync(failure) || undefined, {
    limit: 120_000,
  });
  if (existsSync(failure)) throw new Error(await readFile(failure, 'utf8'));
  return assembly;
}

/** Several test files run at a time. */
async function isFirst(folder: string): Promise<boolean> {
  return mkdir(folder).then(
    () => true,
    () => false,
  );
}
