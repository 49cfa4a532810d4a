import { readdirSync } from 'node:fs';
import { npmScript } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { JEST, runProgram } from '../terminal/run-program.ts';

/** A part of a path and not a pattern. Jest accepts both. */
const PATH = /^[\w.-]+\/[\w./-]*$/;

export const command = npmScript('test', 'Runs every test that needs only Node.js and npm.')
  .argument(
    '[jest...]',
    'part of the paths of test files, and Jest options, such as test/lambda -t signature',
  )
  .allowUnknownOption()
  .action(async (args) => {
    requireTestFiles(args);
    process.exitCode = await runProgram([...JEST, ...args]);
  });

/** @throws CommandError if a path names no file; Jest's own message has eight lines */
function requireTestFiles(args: readonly string[]): void {
  const files = readdirSync('test', { recursive: true }).map((file) => `test/${file}`);
  const paths = args.filter((arg, index) => PATH.test(arg) && !/^-[^=]*$/.test(args[index - 1] ?? ''));
  for (const path of paths) {
    const part = path.replace(/^\.\//, '');
    if (!files.some((file) => file.includes(part))) throw new CommandError(`No test file at ${path}`);
  }
}
