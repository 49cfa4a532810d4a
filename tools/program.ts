import { readFileSync } from 'node:fs';
import module from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from '@commander-js/extra-typings';
import { COMPILED_MODULES } from './local/compiled-modules.ts';

/** Errors with a message for the user. Only the message is printed. */
const EXPECTED = new Set(['CommandError', 'SynthesisError']);

/**
 * Runs one command: `entry.js <script> [arguments]`, as every script in package.json does. The command's file has the
 * name of the script, and exports `command`.
 */
async function main([script = '', ...args]: string[]): Promise<void> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  if (!Object.hasOwn(scripts, script)) {
    fail(`No command '${script}'. One of: ${Object.keys(scripts).join(', ')}`);
  }
  module.enableCompileCache(COMPILED_MODULES);
  const { command } = (await import(`./${script.replace(':', '-')}.ts`)) as { command: Command };
  endWithClosedPipe();
  await command.parseAsync(args, { from: 'user' });
}

/**
 * For a file that does not parse, such as one shared by commands and functions: the error and its position. Node.js
 * puts the position and the source line before the stack.
 * @returns undefined for another error
 */
function mistake(error: Error): string | undefined {
  if (!('code' in error) || error.code !== 'ERR_INVALID_TYPESCRIPT_SYNTAX') return undefined;
  const [place = '', ...lines] = (error.stack ?? '').split('\n\n', 1).join().split('\n');
  const [, file = place, line] = /^(file:.*):(\d+)$/.exec(place) ?? [];
  const path = file.startsWith('file:') ? relative('', fileURLToPath(file)) : file;
  return [`${path}:${line}: ${error.message}`, '', ...lines].join('\n');
}

function fail(line: string): never {
  console.error(line);
  process.exit(1);
}

main(process.argv.slice(2)).catch(async (error: unknown) => {
  if (error instanceof Error) {
    if (EXPECTED.has(error.name)) fail(error.message);
    const text = mistake(error);
    if (text !== undefined) fail(text);
    if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
      const { incompleteEvents } = await import('./generate/event-index.ts');
      const lines = incompleteEvents();
      if (lines.length > 0) fail(lines.join('\n'));
    }
  }
  console.error(error);
  process.exit(1);
});

/**
 * Ends a command without an error when its output is no longer read, as with `head -1`. Work that Ctrl-C can interrupt
 * ends as with Ctrl-C.
 */
function endWithClosedPipe(): void {
  let isClosed = false;
  const onError = ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') {
      console.error(`Cannot write the output: ${message}`);
      process.exitCode = 1;
      return;
    }
    // Each further write fails, too.
    if (isClosed) return;
    isClosed = true;
    process.once('exit', () => {
      process.exitCode = 0;
    });
    if (!process.emit('SIGINT')) process.exit();
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
}
