import { Argument } from '@commander-js/extra-typings';
import { type FigureRow, figureJson, figureTable } from '../../measure/bench/figure.ts';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { table } from '../terminal/layout.ts';
import { jsonOption, wholeNumber } from '../terminal/options.ts';
import { Progress } from '../terminal/progress.ts';
import { INTERRUPTED, interruption, screenWidth } from '../terminal/terminal.ts';

/** Starts: enough for a stable median on a noisy computer. */
const ROUNDS = 25;

/**
 * Measures every figure that has a goal, as ratios of one run. Or shows the steps of a start, or the speed of the
 * console's page in the system's Chromium.
 */
export const command = npmScript(
  'bench',
  'Measures every figure that has a goal for speed, size or cost, or only one of them.',
)
  .addArgument(
    new Argument(
      '[subject]',
      'figures (all), the name of a figure, start (of the receiver) or console (its page)',
    ).default('figures'),
  )
  .option('--rounds <n>', 'number of starts to measure, for start only', wholeNumber(1, 10_000), ROUNDS)
  .addOption(jsonOption())
  .action(async (subject, { rounds, json }) => {
    const signal = interruption();
    const options = { rounds, json: json === true, signal };
    const measuring =
      subject === 'console'
        ? benchConsole(signal)
        : subject === 'start'
          ? benchStart(options)
          : benchFigures(subject, options);
    await measuring.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) process.exitCode = INTERRUPTED;
  });

interface BenchOptions {
  readonly rounds: number;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

async function benchFigures(subject: string, { json, signal }: BenchOptions) {
  const { FIGURES } = await import('../../measure/bench/figures.ts');
  const chosen = subject === 'figures' ? FIGURES : FIGURES.filter(({ name }) => name === subject);
  if (chosen.length === 0) {
    const names = ['figures', 'start', 'console', ...FIGURES.map(({ name }) => name)];
    throw new CommandError(`Unknown figure: ${subject}. Known figures: ${names.join(', ')}`);
  }
  const progress = new Progress();
  const rows: FigureRow[] = [];
  for (const figure of chosen) {
    const onProgress = (doing: string) =>
      progress.show({
        doing: `${figure.name}, ${doing}`,
        done: rows.length,
        total: chosen.length,
        unit: 'figures',
      });
    onProgress('begins');
    const result = await figure.measure({ signal, onProgress }).catch((error: Error) => error);
    if (signal.aborted) break;
    rows.push({ figure, result });
  }
  progress.end();
  console.log(json ? figureJson(rows) : figureTable(rows, screenWidth()).join('\n'));
  if (rows.some(({ result }) => result instanceof Error)) process.exitCode = 1;
}

/** Step by step, from the start of the process to the first 200. */
async function benchStart({ rounds, json, signal }: BenchOptions) {
  const { startTimeline } = await import('../../measure/bench/first-request.ts');
  const progress = new Progress();
  const steps = await startTimeline({
    rounds,
    signal,
    onProgress: (done) => progress.show({ doing: 'Starting', done, total: rounds, unit: 'rounds' }),
  }).finally(() => progress.end());
  if (json) {
    console.log(JSON.stringify(steps, undefined, 2));
    return;
  }
  const lines = table(
    [{ heading: 'STEP' }, { heading: 'UNTIL MS', align: 'right' }, { heading: 'TAKES MS', align: 'right' }],
    steps.map(({ name, at, took }) => [name, at === undefined ? '' : at.toFixed(0), took.toFixed(1)]),
    screenWidth(),
  );
  console.log(lines.join('\n'));
}

/** In milliseconds and MB, because users notice absolute times. */
async function benchConsole(signal: AbortSignal) {
  const [{ measureConsole }, { synthesise }, { Workspace }] = await Promise.all([
    import('../../../test/console/measure.ts'),
    import('../../../local/template/synthesise.ts'),
    import('../../stage/local-folder.ts'),
  ]);
  await using workspace = await Workspace.open();
  await synthesise(workspace.assembly);
  console.log(JSON.stringify(await measureConsole(workspace.assembly, signal), undefined, 2));
}
