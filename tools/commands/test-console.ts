import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { JEST, runProgram } from '../terminal/run-program.ts';
import { chromiumPath } from '../test/browser/browser.ts';

export const command = hookctlCommand('test-console', 'Tests the console in a browser: Chromium or Chrome.')
  .argument('[paths...]', 'part of the paths of test files')
  .action(async (paths) => {
    if (chromiumPath() === undefined) {
      throw new CommandError('There is no Chromium. Install it or Chrome, or set CHROMIUM to its path');
    }
    process.exitCode = await runProgram([...JEST, '--config=tools/test/browser/jest.config.js', ...paths]);
  });
