import { Argument } from '@commander-js/extra-typings';
import { type FigureRow, figureJson, figureTable } from '../bench/figure.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { jsonOption } from '../terminal/options.ts';
import { Progress } from '../terminal/progress.ts';
import { INTERRUPTED, interruption, screenWidth } from '../terminal/terminal.ts';

export const command = hookctlCommand('bench', 'Measures speed and size, and compares them with their goals.')
  .addArgument(new Argument('[figure]', 'only this figure').default('all'))
  .addOption(jsonOption())
  .action(async (name, { json }) => {
    const { FIGURES } = await import('../bench/figures.ts');
    const chosen = FIGURES.filter((figure) => name === 'all' || figure.name === name);
    if (chosen.length === 0) {
      const names = FIGURES.map((figure) => figure.name);
      throw new UsageError(`Unknown figure: ${name}. Known figures: ${names.join(', ')}`);
    }
    const signal = interruption();
    const progress = new Progress();
    const rows: FigureRow[] = [];
    for (const figure of chosen) {
      const [done, total] = [rows.length, chosen.length];
      const onProgress = (note: string) =>
        progress.show({ doing: `Measuring ${figure.name}`, done, total, unit: 'figures', note });
      onProgress('');
      const result = await figure.measure({ signal, onProgress }).catch((error: Error) => error);
      if (signal.aborted) break;
      rows.push({ figure, result });
    }
    progress.end();
    console.log(json ? figureJson(rows) : figureTable(rows, screenWidth()).join('\n'));
    if (rows.some(({ result }) => result instanceof Error)) process.exitCode = 1;
    if (signal.aborted) process.exitCode = INTERRUPTED;
  });
