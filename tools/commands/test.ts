import { hookctlCommand } from '../terminal/command.ts';
import { JEST, runProgram } from '../terminal/run-program.ts';

export const command = hookctlCommand('test', 'Runs every test that needs only Node.js and npm.')
  .argument(
    '[jest...]',
    'part of the paths of test files, and Jest options, such as test/lambda -t signature',
  )
  .allowUnknownOption()
  .action(async (args) => {
    process.exitCode = await runProgram([...JEST, ...args]);
  });
