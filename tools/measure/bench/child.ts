import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { build } from 'esbuild';
import { BUNDLE_OPTIONS } from '../../../lib/release/function-bundles.ts';

/** How long a child may take unless it is given longer, in milliseconds: several times what any of them does. */
export const CHILD_LIMIT = 120_000;

export interface ChildOptions {
  /** Where its bundle is written to. */
  readonly folder: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Of Node.js. @default none */
  readonly flags?: readonly string[];
  readonly signal: AbortSignal;
  /** How long it may take, in milliseconds. @default two minutes */
  readonly limit?: number;
}

/**
 * Runs a file in a process of its own, bundled as functions are, so that nothing but it is measured. What it prints is
 * dropped.
 * @returns what it sends last
 * @throws Error where it ends without having sent anything, or takes too long
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
