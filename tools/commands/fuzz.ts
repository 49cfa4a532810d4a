import { hookctlCommand } from '../terminal/command.ts';
import { anySeed, gatewayOption, seedOption, wholeNumber } from '../terminal/options.ts';
import { Progress } from '../terminal/progress.ts';

export const command = hookctlCommand(
  'fuzz',
  'Sends mutated requests to the receiver, and checks every answer and message.',
)
  .option('--requests <n>', 'number of requests', wholeNumber(1), 100_000)
  .addOption(seedOption())
  .addOption(gatewayOption('http'))
  .action(async ({ requests, seed = anySeed(), gateway = 'http' }) => {
    const { fuzz } = await import('../test/fuzz/fuzz.ts');
    const progress = new Progress();
    const started = performance.now();
    const { violation, ...report } = await fuzz(requests, seed, gateway, (done) =>
      progress.show({ doing: 'Sending', done, total: requests }),
    ).finally(() => progress.end());
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    console.log(
      JSON.stringify(
        { gateway, seed, requests, seconds, ...report, ...(violation && { violation }) },
        null,
        2,
      ),
    );
    if (violation !== undefined) process.exitCode = 1;
  });
