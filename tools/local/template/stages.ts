import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSynthesis } from './synthesise.ts';

const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));

/**
 * The stages of `cdk.json`, one with every setting, and one with `encryption`, which cannot be combined with another
 * setting. With their fields.
 */
export const stages: Readonly<Record<string, object>> = {
  ...context.stages,
  'every-setting': JSON.parse(readFileSync('tools/local/template/every-setting.json', 'utf8')),
  encrypted: { account: '111122223333', region: 'eu-central-1', encryption: {} },
};

/** The stages that generated files are based on. */
export const derivedFrom = ['dev', 'prod', 'every-setting', 'encrypted'] as const;

/** Folders of their cloud assemblies, by stage. */
export type Assemblies = Readonly<Record<(typeof derivedFrom)[number], string>>;

/** @param folderOf gives the folder of a stage's assembly */
export function assembliesIn(folderOf: (stage: keyof Assemblies) => string): Assemblies {
  return Object.fromEntries(derivedFrom.map((stage) => [stage, folderOf(stage)])) as Assemblies;
}

/**
 * Synthesises the current stack once for each stage, with one process for all, and calls a function with the
 * assemblies.
 */
export async function withAssemblies<Result>(
  work: (assemblies: Assemblies) => Result | Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-generate-'));
  try {
    const assemblies = assembliesIn((stage) => join(folder, stage));
    await runSynthesis('tools/generate/synthesise-stages.ts', { ASSEMBLIES: JSON.stringify(assemblies) });
    return await work(assemblies);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
