import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { BUNDLE_OPTIONS } from '../../../lib/release/function-bundles.ts';

/** Default timeout of a child in milliseconds: several times the time that any of them takes. */
export const CHILD_LIMIT = 120_000;

interface ChildOptions {
  /** Where its bundle is written. */
  readonly folder: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Options of Node.js. @default none */
  readonly flags?: readonly string[];
  readonly signal: AbortSignal;
  /** Timeout in milliseconds. @default {@link CHILD_LIMIT} */
  readonly limit?: number;
}

/**
 * Runs a file in its own process, bundled like a function, so that only the file is measured. Drops its output.
 * @returns the last message that it sends
 * @throws Error if it ends without a message, or times out
 */
export async function runChild(file: string, options: ChildOptions): Promise<unknown> {
  const { folder, environment, flags = [], signal, limit = CHILD_LIMIT } = options;
  await build({ ...BUNDLE_OPTIONS, entryPoints: { child: file }, outdir: folder });
  const child = spawn(process.execPath, [...flags, `${folder}/child.mjs`, ...options.arguments], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    signal,
    timeout: limit,
  });
  let sent: unknown;
  child.on('message', (message) => {
    sent = message;
  });
  const [code] = await once(child, 'exit');
  if (child.killed) throw new Error(`${file} took more than ${limit / 1000} s`);
  if (sent === undefined) throw new Error(`${file} ended with ${code}`);
  return sent;
}

/** Timeout of one start of a function in milliseconds: about fifty times the usual duration. */
const START_LIMIT = 20_000;

interface OutputOptions {
  /** The whole environment: `NODE_OPTIONS` or `NODE_COMPILE_CACHE` of this process would distort the result. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs Node.js in its own process.
 * @returns its standard output
 * @throws Error if it fails, times out or is aborted
 */
export async function outputOf(words: readonly string[], { env, signal }: OutputOptions): Promise<string> {
  const options = { env, timeout: START_LIMIT, ...(signal && { signal }) };
  const running = promisify(execFile)(process.execPath, words, options);
  // execFile's own message contains the whole command, and so the delivery.
  const { stdout } = await running.catch(({ killed, code, stderr }) => {
    signal?.throwIfAborted();
    throw new Error(
      killed ? `A start took more than ${START_LIMIT / 1000} s` : stderr || `A start ended with ${code}`,
    );
  });
  return stdout;
}
