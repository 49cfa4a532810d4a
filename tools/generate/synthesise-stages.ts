import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stages } from '../../bin/stages.ts';
import { functionEntries } from '../../lib/release/function-bundles.ts';
import { webhookApp } from '../../lib/webhook-app.ts';

/**
 * Synthesises stages, each into a subfolder of ASSEMBLIES: those that STAGES names, or all. One process for all, because
 * loading the CDK takes long.
 */
const { ASSEMBLIES = '', STAGES = Object.keys(stages).join(' ') } = process.env;
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));

for (const stage of STAGES.split(' ')) {
  const outdir = join(ASSEMBLIES, stage);
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
