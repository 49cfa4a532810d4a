import { Argument } from '@commander-js/extra-typings';
import type { FigureRow } from '../bench/figures.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { screenWidth } from '../terminal/terminal.ts';

export const command = hookctlCommand('bench', 'Measures speed and size, and compares them with their goals.')
  .addArgument(new Argument('[figure]', 'only this figure').default('all'))
  .action(async (name) => {
    const { FIGURES, figureTable } = await import('../bench/figures.ts');
    const chosen = FIGURES.filter((figure) => name === 'all' || figure.name === name);
    if (chosen.length === 0) {
      const names = FIGURES.map((figure) => figure.name);
      throw new UsageError(`Unknown figure: ${name}. Known figures: ${names.join(', ')}`);
    }
    const rows: FigureRow[] = [];
    for (const { measure, ...figure } of chosen) {
      console.error(`Measuring ${figure.name} …`);
      rows.push({ ...figure, ...(await measure()) });
    }
    console.log(figureTable(rows, screenWidth()).join('\n'));
  });
