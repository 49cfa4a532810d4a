import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSynthesis } from '../../bin/synthesise.ts';

/** Stages that generated files are made from. */
export const derivedFrom = ['dev', 'prod', 'every-setting', 'encrypted'] as const;

/** Folders of cloud assemblies, by stage. */
export type Assemblies = Readonly<Record<(typeof derivedFrom)[number], string>>;

/** @param folderOf gives the folder of a stage's cloud assembly */
export function assembliesIn(folderOf: (stage: keyof Assemblies) => string): Assemblies {
  return Object.fromEntries(derivedFrom.map((stage) => [stage, folderOf(stage)])) as Assemblies;
}

/**
 * Synthesises each stage of {@link derivedFrom}, all in one process, and calls a function with the cloud assemblies.
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
