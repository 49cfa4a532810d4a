import { Argument } from '@commander-js/extra-typings';
import { npmScript } from '../terminal/command.ts';
import { jsonOption, wholeNumber } from '../terminal/options.ts';
import { Progress } from '../terminal/progress.ts';
import { screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';

/** Starts of each variant: enough for a median that holds on a noisy machine. */
const ROUNDS = 25;

/**
 * `npm run bench`: how long the receiver takes to start, bundled in different ways, as ratios; or how quick the console's
 * page is, in the system's Chromium.
 */
export const command = npmScript(
  'bench',
  'Start-up time of the receiver: as it is deployed, and in each other way that was considered, as ratios of one run. Or how quick the console’s page is, in a browser.',
)
  .addArgument(
    new Argument('[subject]', 'what is measured')
      .choices(['receiver', 'console'])
      .default('receiver' as const),
  )
  .option('--rounds <n>', 'starts of each', wholeNumber(1, 10_000), ROUNDS)
  .addOption(jsonOption())
  .action(async (subject, { rounds, json }) => {
    if (subject === 'console') {
      console.log(JSON.stringify(await benchConsole(), undefined, 2));
      return;
    }
    const { measureStartUp } = await import('../../bench/start-up.ts');
    const progress = new Progress();
    const rows = await measureStartUp({
      rounds,
      onProgress: (done) => progress.show({ doing: 'Starting', done, total: rounds, unit: 'rounds' }),
    }).finally(() => progress.end());
    if (json) {
      console.log(JSON.stringify(rows, undefined, 2));
      return;
    }
    const lines = table(
      [
        { heading: 'RECEIVER' },
        { heading: 'KB LOADED', align: 'right' },
        { heading: 'KB ZIPPED', align: 'right' },
        { heading: 'MEDIAN MS', align: 'right' },
        { heading: 'RATIO', align: 'right' },
      ],
      rows.map(({ name, kilobytes, zipKilobytes, milliseconds, ratio }) => [
        name,
        kilobytes.toFixed(0),
        zipKilobytes.toFixed(0),
        milliseconds.toFixed(1),
        ratio.toFixed(2),
      ]),
      screenWidth(),
    );
    console.log(lines.join('\n'));
  });

/** In milliseconds and MB: there is nothing to compare a page with but what a person notices. */
async function benchConsole() {
  const [{ measureConsole }, { synthesise }, { Workspace }] = await Promise.all([
    import('../../test/console/measure.ts'),
    import('../../local/template/synthesise.ts'),
    import('../operate/local-folder.ts'),
  ]);
  await using workspace = await Workspace.open();
  await synthesise(workspace.assembly);
  return await measureConsole(workspace.assembly);
}
