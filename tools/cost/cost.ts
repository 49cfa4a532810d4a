import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesise } from '../../local/template/synthesise.ts';
import { CommandError } from '../terminal/command-error.ts';
import { parseCostArguments } from './cost-arguments.ts';
import { costReport, scaleReport } from './cost-report.ts';
import { readDeployment } from './deployment.ts';
import { MEASURED_LOG_BYTES, measureLogBytes } from './log-bytes.ts';

/** `npm run cost`: what a month costs, what saturates first, and what both are computed from. */
async function main(): Promise<void> {
  const { action, assembly, workload, accountConcurrency } = parseCostArguments(process.argv.slice(2));
  const folder = mkdtempSync(join(tmpdir(), 'cost-'));
  try {
    if (assembly === undefined) await synthesise(folder, { stage: 'prod' });
    const source = assembly ?? folder;
    if (!existsSync(join(source, 'manifest.json'))) {
      throw new CommandError(
        `No cloud assembly in ${source}. Make one with: npx cdk synth --output ${source}`,
      );
    }
    if (action === 'measure') {
      console.log(await measureLogBytes(source));
      return;
    }
    const deployment = readDeployment(source);
    console.log(
      action === 'scale'
        ? scaleReport(workload, deployment, accountConcurrency)
        : costReport(workload, deployment, MEASURED_LOG_BYTES),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

main().catch((error: unknown) => {
  // Whoever mistyped needs no stack.
  console.error(error instanceof CommandError ? error.message : error);
  process.exitCode = 1;
});
