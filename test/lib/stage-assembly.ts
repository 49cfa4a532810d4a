import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { synthesise } from '../../local/template/synthesise.ts';
import { eventually } from '../support/eventually.ts';
import { testAssembly } from '../support/test-stack.ts';

const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));

/** The stages of `cdk.json`, and one in which every setting is set: `test/lib/every-setting.json`. */
export const stages: readonly string[] = [...Object.keys(context.stages), 'every-setting'];

/**
 * The cloud assembly of a stage, synthesised with cdk-nag's checks by the first test file that asks for it.
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
    const everySetting = JSON.parse(await readFile('test/lib/every-setting.json', 'utf8'));
    await synthesise(unfinished, {
      stage,
      stages: { ...context.stages, 'every-setting': everySetting },
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
