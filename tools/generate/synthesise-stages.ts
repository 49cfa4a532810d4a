import { readFileSync } from 'node:fs';
import { FunctionBundles } from '../../lib/release/function-bundles.ts';
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
    // `CODE_HASH` of `template-snapshot.ts`
    bundles: await FunctionBundles.withoutCode(outdir),
  });
  app.synth();
}
