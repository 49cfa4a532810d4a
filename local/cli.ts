import { readFileSync } from 'node:fs';
import { CommandError } from './commands/command-error.ts';
import { help } from './commands/help.ts';
import { SynthesisError } from './template/synthesise.ts';

/** The commands of package.json's scripts, each a file of `commands/` that exports `run`. */
const COMMANDS = Object.keys(help);

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
  if (args.includes('--help')) return console.log(help[name]);
  const { run } = (await import(`./commands/${name}.ts`)) as { run: (args: string[]) => Promise<void> };
  await run(args);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof SynthesisError) console.error(error.message);
  // Node.js explains some misuse of options in several lines.
  else if (isRefusal(error)) console.error(error.message.replaceAll('\n', ' '));
  else console.error(error);
  process.exit(1);
});

function isRefusal(error: unknown): error is Error {
  if (error instanceof CommandError) return true;
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
