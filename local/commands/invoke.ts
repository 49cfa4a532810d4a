import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { FunctionDefinition } from '../functions/function-definition.ts';
import { LocalFunction } from '../functions/local-function.ts';
import { CommandError } from './command-error.ts';
import { FUNCTIONS_FILE } from './settings.ts';

/**
 * `npm run invoke -- <function> <event-file>`: runs one handler in this process, with the environment
 * and the rights that it has in the running local stack, and prints its result.
 */
export async function run(args: string[]): Promise<void> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  const [name, file, ...more] = positionals;
  if (!existsSync(FUNCTIONS_FILE))
    throw new CommandError('The local stack is not running. Start it with: npm start');
  const definitions = JSON.parse(readFileSync(FUNCTIONS_FILE, 'utf8')) as Record<string, FunctionDefinition>;
  const choice = Object.keys(definitions).join(', ');
  if (name === undefined || file === undefined || more.length > 0) {
    throw new CommandError(`Usage: npm run invoke -- <function> <event-file>. Functions: ${choice}`);
  }
  const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (definition === undefined) throw new CommandError(`No function '${name}'. One of: ${choice}`);
  const event = readEvent(file);

  const handler = new LocalFunction(definition, ({ text }) => console.error(text));
  try {
    const { requestId, durationMilliseconds, ...result } = await handler.invoke(event);
    console.log(JSON.stringify(result.ok ? result.payload : result, undefined, 2));
    console.error(`${requestId}: ${Math.round(durationMilliseconds)} ms`);
    if (!result.ok) process.exitCode = 1;
  } finally {
    await handler.close();
  }
}

function readEvent(file: string): unknown {
  if (!existsSync(file)) throw new CommandError(`No file ${file}`);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new CommandError(`${file} is not JSON`);
  }
}
