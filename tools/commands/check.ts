import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { runProgram } from '../terminal/run-program.ts';
import { INTERRUPTED } from '../terminal/terminal.ts';

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
    const types = await checkTypes();
    const lint =
      types === INTERRUPTED
        ? INTERRUPTED
        : await runProgram(['node_modules/@biomejs/biome/bin/biome', 'check', ...(fix ? ['--write'] : [])]);
    if (lint !== 0 && lint !== INTERRUPTED && !fix)
      console.error('To fix format and import order: npx hookctl check --fix');
    process.exitCode = Math.max(types, lint);
  });

/**
 * Runs `tsc` for each TypeScript project. The console's page is a project of its own, because the page has the types of
 * a browser and not those of Node.js. The page's tests have both.
 */
async function checkTypes(): Promise<number> {
  const codes: number[] = [];
  for (const project of ['.', 'tools/console/page', 'tools/test/console/page']) {
    const code = await runProgram(['node_modules/typescript/bin/tsc', '--noEmit', '--project', project]);
    if (code === INTERRUPTED) return code;
    codes.push(code);
  }
  return Math.max(...codes);
}
