import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesise } from '../../local/template/synthesise.ts';

const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));

/** The stages of `cdk.json`, and one in which every setting is set, with their fields. */
export const stages: Readonly<Record<string, object>> = {
  ...context.stages,
  'every-setting': JSON.parse(readFileSync('tools/generate/every-setting.json', 'utf8')),
};

/** Folders of the cloud assemblies that derived files are made from, by stage. */
export type Assemblies = Readonly<Record<'dev' | 'prod' | 'every-setting', string>>;

/** Has something done with the stack as it is now, synthesised once for each stage. */
export async function withAssemblies<Result>(
  work: (assemblies: Assemblies) => Result | Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-generate-'));
  try {
    const assemblies = {
      dev: join(folder, 'dev'),
      prod: join(folder, 'prod'),
      'every-setting': join(folder, 'every-setting'),
    };
    const syntheses = await Promise.allSettled(
      Object.entries(assemblies).map(([stage, assembly]) => synthesise(assembly, { stage, stages })),
    );
    for (const synthesis of syntheses) if (synthesis.status === 'rejected') throw synthesis.reason;
    return await work(assemblies);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
