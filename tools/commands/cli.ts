import { readFileSync } from 'node:fs';
import type { Command } from '@commander-js/extra-typings';

/**
 * Errors that say to whoever typed the command what is wrong: their message is all that is to be read. TransformError is
 * tsx's, of a file that commands share with the functions.
 */
const EXPECTED = new Set(['CommandError', 'SynthesisError', 'TransformError', 'UnusableStateError']);

/**
 * Runs one command: `cli.ts <script> [arguments]`, as every script of package.json does. Its file is named after it,
 * and exports `command`. Nothing is loaded before the version of Node.js is known to be the one that Lambda runs:
 * on an older one a dependency would fail with an error of its own.
 */
async function main([script = '', ...args]: string[]): Promise<void> {
  const { devDependencies, scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [needed] = devDependencies.node.split('.');
  const [major] = process.versions.node.split('.');
  if (major !== needed) {
    fail(
      `Node.js ${needed} is needed, this is ${process.versions.node}. "npm ci" installs it; run the command as "npm run ${script}".`,
    );
  }
  if (!Object.hasOwn(scripts, script)) {
    fail(`No command '${script}'. One of: ${Object.keys(scripts).join(', ')}`);
  }
  const { command } = (await import(`./${script.replace(':', '-')}.ts`)) as { command: Command };
  await command.parseAsync(args, { from: 'user' });
}

function fail(line: string): never {
  console.error(line);
  process.exit(1);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof Error && EXPECTED.has(error.name)) fail(error.message);
  console.error(error);
  process.exit(1);
});
