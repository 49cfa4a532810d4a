import { readdirSync } from 'node:fs';
import { hookctlCommand } from '../terminal/command.ts';
import { UsageError } from '../terminal/command-error.ts';
import { JEST, runProgram } from '../terminal/run-program.ts';

/** Matches an argument that is part of a path, and not a pattern. Jest accepts both. */
const PATH = /^[\w.-]+\/[\w./-]*$/;

export const command = hookctlCommand('test', 'Runs every test that needs only Node.js and npm.')
  .argument(
    '[jest...]',
    'part of the paths of test files, and Jest options, such as test/lambda -t signature',
  )
  .allowUnknownOption()
  .action(async (args) => {
    requireTestFiles(args);
    process.exitCode = await runProgram([...JEST, ...args]);
  });

/** @throws UsageError if a path matches no file. Jest's own message for that has eight lines */
function requireTestFiles(args: readonly string[]): void {
  const files = ['test', 'local-aws/test', 'tools/test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((file) => `${folder}/${file}`),
  );
  const paths = args.filter((arg, index) => PATH.test(arg) && !/^-[^=]*$/.test(args[index - 1] ?? ''));
  for (const path of paths) {
    const part = path.replace(/^\.\//, '');
    if (!files.some((file) => file.includes(part))) throw new UsageError(`No test file at ${path}`);
  }
}
