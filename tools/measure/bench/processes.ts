import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { BUNDLE_OPTIONS } from '../../../lib/release/function-bundles.ts';

/** Milliseconds that a child may take by default: several times what any of them takes. */
export const CHILD_LIMIT = 120_000;

interface ChildOptions {
  /** Its bundle is written there. */
  readonly folder: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Options of Node.js. @default none */
  readonly flags?: readonly string[];
  readonly signal: AbortSignal;
  /** Milliseconds that it may take. @default {@link CHILD_LIMIT} */
  readonly limit?: number;
}

/**
 * Runs a file in its own process, bundled as functions are, so that only the file is measured. Its output is dropped.
 * @returns the last message that it sends
 * @throws Error if it ends without a message, or takes too long
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

/** Milliseconds that one start of a function may take: some fifty times what it takes. */
const START_LIMIT = 20_000;

interface OutputOptions {
  /** The whole environment: `NODE_OPTIONS` or `NODE_COMPILE_CACHE` of this process would be measured, too. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs Node.js in its own process.
 * @returns its standard output
 * @throws Error if it fails, takes too long or is aborted
 */
export async function outputOf(words: readonly string[], { env, signal }: OutputOptions): Promise<string> {
  const options = { env, timeout: START_LIMIT, ...(signal && { signal }) };
  const running = promisify(execFile)(process.execPath, words, options);
  // execFile's own message has the whole command, and so the delivery.
  const { stdout } = await running.catch(({ killed, code, stderr }) => {
    signal?.throwIfAborted();
    throw new Error(
      killed ? `A start took more than ${START_LIMIT / 1000} s` : stderr || `A start ended with ${code}`,
    );
  });
  return stdout;
}
