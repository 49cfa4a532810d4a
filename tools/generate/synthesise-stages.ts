import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { functionEntries } from '../../lib/release/function-bundles.ts';
import { webhookApp } from '../../lib/webhook-app.ts';
import { stages } from './stages.ts';

/** Folders by the name of the stage whose cloud assembly goes there. */
const folders: Record<string, string> = JSON.parse(process.env.ASSEMBLIES ?? '');
/** Of the context in `cdk.json`, and of the stages. */
const overrides: object = JSON.parse(process.env.OVERRIDES ?? '{}');
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));

for (const [stage, outdir] of Object.entries(folders)) {
  const { app } = await webhookApp({
    outdir,
    context: { ...context, stage, stages, ...overrides },
    bundles: writePlaceholders(join(outdir, 'bundles')),
  });
  app.synth();
}

/**
 * Code in the place of the functions' own: nothing derived depends on it, and to bundle takes most of a synthesis' time.
 * @returns the folder
 */
function writePlaceholders(folder: string): string {
  for (const [name, entry] of Object.entries(functionEntries)) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'index.mjs'), `// ${entry}\n`);
  }
  return folder;
}
