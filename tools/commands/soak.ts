import { Option } from '@commander-js/extra-typings';
import { synthesise } from '../../local/template/synthesise.ts';
import { Workspace } from '../operate/local-folder.ts';
import { npmScript } from '../terminal/command.ts';
import { wholeNumber } from '../terminal/options.ts';
import { Progress } from '../terminal/progress.ts';

/** Deliveries of a run that is about something else: a kill, an outage. */
const REVIEWS_PER_KILL = 10;
const DELIVERIES_IN_AN_OUTAGE = 200;

/** Differences that are printed. */
const MOST_SHOWN = 20;

/** `npm run soak`: exit code 1, and the seed, on any difference. */
export const command = npmScript(
  'soak',
  'Posts deliveries at a stack that faults beset, waits for quiet, and holds everything that is there against an oracle.',
)
  .option('--deliveries <n>', 'posts, repeats after 401 and 500 not counted', wholeNumber(1), 20_000)
  .option(
    '--seed <n>',
    'the same seed makes the same deliveries; without it, another one each time',
    wholeNumber(0, 2 ** 31 - 1),
  )
  .addOption(
    new Option('--kills <n>', 'instead kills a consumer so often in the middle of its batches')
      .argParser(wholeNumber(1))
      .conflicts(['outage', 'seed']),
  )
  .addOption(
    new Option('--outage <seconds>', 'instead keeps DynamoDB down for so long')
      .argParser(wholeNumber(1))
      .conflicts('seed'),
  )
  .action(async ({ deliveries, seed = Date.now() % 2 ** 31, kills, outage }) => {
    const progress = new Progress();
    await using workspace = await Workspace.open();
    const { assembly } = workspace;
    const onProgress = progress.show.bind(progress);
    console.error('Synthesising the stack …');
    try {
      await synthesise(assembly);
      if (kills !== undefined) {
        const { surviveKills } = await import('../../test/soak/kills.ts');
        const options = {
          assembly,
          kills,
          reviewsPerKill: REVIEWS_PER_KILL,
          visibilitySeconds: 5,
          onProgress,
        };
        const report = await surviveKills(options);
        progress.end();
        finish(report, report.lost);
      } else if (outage !== undefined) {
        const { surviveOutage } = await import('../../test/soak/outage.ts');
        const options = { assembly, seconds: outage, deliveries: DELIVERIES_IN_AN_OUTAGE, onProgress };
        const report = await surviveOutage(options);
        progress.end();
        finish(report, report.deliveries - report.processed + report.deadLetters);
      } else {
        const { soak } = await import('../../test/soak/soak.ts');
        const { differences, ...figures } = await soak({ assembly, deliveries, seed, onProgress });
        progress.end();
        for (const difference of differences.slice(0, MOST_SHOWN)) console.error(difference);
        finish(figures, differences.length);
      }
    } finally {
      progress.end();
    }
  });

function finish(report: object, differences: number): void {
  console.log(JSON.stringify({ ...report, differences }, undefined, 2));
  if (differences > 0) process.exitCode = 1;
}
