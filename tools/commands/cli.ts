import { readFileSync } from 'node:fs';
import type { Command } from '@commander-js/extra-typings';
import { CommandError } from '../terminal/command-error.ts';
import { help } from './help.ts';

/** The commands of package.json's scripts, each a file of `commands/` that exports `run` or `command`. */
const COMMANDS = [...Object.keys(help), 'generate', 'new-event'];

/**
 * Runs one command. Nothing else is loaded before the version of Node.js is known to be the one that
 * Lambda runs: on an older one a dependency would fail with an error of its own.
 */
async function main([name = '', ...args]: string[]): Promise<void> {
  const needed = JSON.parse(readFileSync('package.json', 'utf8')).devDependencies.node.split('.')[0];
  const [major] = process.versions.node.split('.');
  if (major !== needed) {
    throw new CommandError(
      `Node.js ${needed} is needed, this is ${process.versions.node}. "npm ci" installs it; run the command as "npm run ${name}".`,
    );
  }
  if (!COMMANDS.includes(name))
    throw new CommandError(`No command '${name}'. One of: ${COMMANDS.join(', ')}`);
  if (Object.hasOwn(help, name) && args.includes('--help')) return console.log(help[name]);
  const { run, command } = (await import(`./${name}.ts`)) as {
    run?: (args: string[]) => Promise<void>;
    command?: Command;
  };
  await run?.(args);
  await command?.parseAsync(args, { from: 'user' });
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const expected =
    error instanceof CommandError ||
    (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  // Node.js explains some misuse of options in several lines.
  console.error(expected ? (error as Error).message.replaceAll('\n', ' ') : error);
  process.exit(1);
});
