import { stageOverrides, synthesise } from '../../bin/synthesise.ts';
import { Workspace } from '../stage/local-folder.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { gatewayOption, wholeNumber } from '../terminal/options.ts';
import { Progress } from '../terminal/progress.ts';

/** Maximum number of differences printed. */
const MAX_SHOWN = 20;

/** Maximum seed. Generators use 32-bit seeds, and one generator treats seeds as signed. */
const MAX_SEED = 2 ** 31 - 1;

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
  .option(
    '--seed <n>',
    'seed for random numbers; the same seed repeats the run (default: the time)',
    wholeNumber(0, MAX_SEED),
  )
  .addOption(gatewayOption())
  .action(async ({ gateway, deliveries, seed = Date.now() % MAX_SEED }) => {
    const progress = new Progress();
    await using workspace = await Workspace.open();
    console.error('Synthesising the stack …');
    const { assembly } = workspace;
    await synthesise(assembly, gateway && stageOverrides({ gateway }));
    const { soak } = await import('../test/soak/soak.ts');
    const onProgress = progress.show.bind(progress);
    const run = soak({ assembly, deliveries, seed, onProgress }).finally(() => progress.end());
    const { differences, ...report } = await run;
    for (const difference of differences.slice(0, MAX_SHOWN)) console.error(difference);
    console.log(JSON.stringify({ ...report, differences: differences.length }, undefined, 2));
    if (differences.length > 0) process.exitCode = 1;
    if (report.kills === 0 || Object.values(report.faults).every((hits) => hits === 0)) {
      throw new CommandError('No call failed or no function was killed, so this run proves nothing');
    }
  });
