import { npmScript } from '../terminal/command.ts';
import { JEST, runProgram } from '../terminal/run-program.ts';

/** `npm test`: Jest, with whatever options are given. */
export const command = npmScript('test', 'Every test that needs only Node.js and npm.')
  .argument('[jest...]', "part of test files' paths, and options of Jest, such as -t NAME")
  .allowUnknownOption()
  .addHelpText('after', '\nExample: npm test -- test/lambda/receiver -t signature')
  .action(async (args) => {
    process.exitCode = await runProgram([...JEST, ...args]);
  });
