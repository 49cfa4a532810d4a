import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** How long one start of a function may take, in milliseconds: some fifty times what it does. */
const LIMIT = 20_000;

export interface OutputOptions {
  /** All that it gets: `NODE_OPTIONS` or `NODE_COMPILE_CACHE` of whoever measures would be measured, too. */
  readonly env: Readonly<Record<string, string>>;
  /** @default nobody ends it */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs Node.js in a process of its own.
 * @returns what it prints
 * @throws Error where it fails or takes too long, or is ended
 */
export async function outputOf(words: readonly string[], { env, signal }: OutputOptions): Promise<string> {
  const options = { env, timeout: LIMIT, ...(signal && { signal }) };
  const running = promisify(execFile)(process.execPath, words, options);
  // The message of execFile has the whole command, with the delivery that it is given.
  const { stdout } = await running.catch(({ killed, code, stderr }) => {
    signal?.throwIfAborted();
    throw new Error(
      killed ? `A start took more than ${LIMIT / 1000} s` : stderr || `A start ended with ${code}`,
    );
  });
  return stdout;
}
