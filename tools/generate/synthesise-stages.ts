import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stages } from '../../bin/stages.ts';
import { functionEntries } from '../../lib/release/function-bundles.ts';
import { webhookApp } from '../../lib/webhook-app.ts';

/** Output folders of the cloud assemblies, by stage. */
const folders: Record<string, string> = JSON.parse(process.env.ASSEMBLIES ?? '');
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));

for (const [stage, outdir] of Object.entries(folders)) {
  const { app } = await webhookApp({
    outdir,
    context: { ...context, stage, stages },
    bundles: writePlaceholders(join(outdir, 'bundles')),
  });
  app.synth();
}

/**
 * Placeholder code for the functions: no generated file depends on it, and bundling takes most of the time of a
 * synthesis.
 * @returns the folder
 */
function writePlaceholders(folder: string): string {
  for (const [name, entry] of Object.entries(functionEntries)) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'index.mjs'), `// ${entry}\n`);
  }
  return folder;
}
