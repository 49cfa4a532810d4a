import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { synthesise } from '../../local/template/synthesise.ts';
import { stages } from '../../tools/generate/stages.ts';
import { eventually } from '../support/eventually.ts';
import { testAssembly } from '../support/test-stack.ts';

/**
 * The cloud assembly of one of `stages`, synthesised with cdk-nag's checks by the first test file that asks for it.
 * What the checks find does not end the synthesis: it stands in the assembly's validation report.
 * @param acknowledge whether findings that the code acknowledges are left out of the report
 * @returns its folder
 */
export async function stageAssembly(stage: string, acknowledge = true): Promise<string> {
  const folder = join(dirname(testAssembly()), acknowledge ? stage : `${stage}-unacknowledged`);
  const assembly = join(folder, 'cdk.out');
  const failure = join(folder, 'failure');
  if (await isFirst(folder)) {
    const unfinished = join(folder, 'unfinished');
    await synthesise(unfinished, {
      stage,
      stages,
      nag: true,
      acknowledge,
      '@aws-cdk/core:failSynthOnValidationErrors': false,
    }).then(
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
