import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { runProgram } from '../terminal/run-program.ts';
import { INTERRUPTED } from '../terminal/terminal.ts';

/**
 * TypeScript projects. The console's page has the types of a browser and not those of Node.js. The page's tests have
 * both.
 */
const PROJECTS = ['.', 'tools/console/page', 'tools/test/console/page'];

export const command = hookctlCommand(
  'check',
  'Checks types, lint, format and imports, and that each event has all its files.',
)
  .option('--fix', 'fix format and import order')
  .action(async ({ fix }) => {
    const { EVENT_INDEX, eventIndex, incompleteEvents, isUpToDate } = await import(
      '../generate/event-index.ts'
    );
    const incomplete = incompleteEvents();
    if (incomplete.length > 0) throw new CommandError(incomplete.join('\n'));
    if (!isUpToDate(eventIndex()))
      throw new CommandError(`${EVENT_INDEX} is out of date. Run: npm run generate`);
    const tsc = ['node_modules/typescript/bin/tsc', '--noEmit', '--project'];
    const types = PROJECTS.map((project) => [...tsc, project]);
    const lint = ['node_modules/@biomejs/biome/bin/biome', 'check', ...(fix ? ['--write'] : [])];
    let worst = 0;
    for (const program of [...types, lint]) {
      const code = await runProgram(program);
      worst = Math.max(worst, code);
      if (code === INTERRUPTED) break;
      if (program === lint && code !== 0 && !fix)
        console.error('To fix format and import order: npx hookctl check --fix');
    }
    process.exitCode = worst;
  });
