import { Option } from '@commander-js/extra-typings';
import { stageOverrides, synthesise } from '../../bin/synthesise.ts';
import { Workspace } from '../stage/local-folder.ts';
import type { ProgressStep } from '../terminal/block.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { anySeed, gatewayOption, seedOption, wholeNumber } from '../terminal/options.ts';
import { Progress } from '../terminal/progress.ts';

/** Number of `review.posted` events sent before each kill of their consumer. */
const REVIEWS_PER_KILL = 10;
const DELIVERIES_IN_AN_OUTAGE = 200;

/** Maximum number of differences printed. */
const MAX_SHOWN = 20;

/**
 * Command that compares what was sent with all effects. If they differ, it prints the seed and exits with
 * code 1.
 */
export const command = hookctlCommand(
  'soak',
  'Posts deliveries to a local stack with injected faults, and compares the result with a model.',
)
  .option(
    '--deliveries <n>',
    'number of deliveries, without retries after 401 and 500',
    wholeNumber(1),
    20_000,
  )
  .addOption(seedOption())
  .addOption(
    new Option('--kills <n>', 'instead, kill a consumer this many times during a batch')
      .argParser(wholeNumber(1))
      .conflicts(['outage', 'seed', 'deliveries']),
  )
  .addOption(
    new Option('--outage <seconds>', 'instead, take DynamoDB down for this many seconds')
      .argParser(wholeNumber(1))
      .conflicts(['seed', 'deliveries']),
  )
  .addOption(gatewayOption())
  .action(async ({ gateway, ...options }) => {
    const progress = new Progress();
    await using workspace = await Workspace.open();
    console.error('Synthesising the stack …');
    await synthesise(workspace.assembly, gateway && stageOverrides({ gateway }));
    const run = { assembly: workspace.assembly, onProgress: progress.show.bind(progress) };
    const { report, differences, shown = [] } = await carryOut(options, run).finally(() => progress.end());
    for (const difference of shown) console.error(difference);
    console.log(JSON.stringify({ ...report, differences }, undefined, 2));
    if (differences > 0) process.exitCode = 1;
  });

interface Asked {
  readonly deliveries: number;
  readonly seed?: number | undefined;
  readonly kills?: number | undefined;
  readonly outage?: number | undefined;
}

interface SoakOutcome {
  readonly report: object;
  readonly differences: number;
  readonly shown?: readonly string[];
}

async function carryOut(
  { deliveries, seed = anySeed(), kills, outage }: Asked,
  run: { readonly assembly: string; readonly onProgress: (step: ProgressStep) => void },
): Promise<SoakOutcome> {
  const { soak, surviveKills, surviveOutage, VISIBILITY_SECONDS } = await import('../test/soak/soak.ts');
  if (kills !== undefined) {
    const settings = { kills, reviewsPerKill: REVIEWS_PER_KILL, visibilitySeconds: VISIBILITY_SECONDS };
    const report = await surviveKills({ ...run, ...settings });
    return { report, differences: report.lost };
  }
  if (outage !== undefined) {
    const report = await surviveOutage({ ...run, seconds: outage, deliveries: DELIVERIES_IN_AN_OUTAGE });
    return { report, differences: report.deliveries - report.processed + report.deadLetters };
  }
  const { differences, ...report } = await soak({ ...run, deliveries, seed });
  return { report, differences: differences.length, shown: differences.slice(0, MAX_SHOWN) };
}
