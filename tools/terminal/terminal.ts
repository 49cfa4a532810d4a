import { createInterface } from 'node:readline/promises';
import { CommandError } from './command-error.ts';

/**
 * Characters of a shortened id, in output and in options. Eight hex digits have four billion values, enough
 * to distinguish the ids in use.
 */
export const SHORT_ID_LENGTH = 8;

/**
 * Width of a stream in characters. Infinity if the stream is not a terminal, so that nothing wraps in a file or a pipe.
 */
export function screenWidth(stream: NodeJS.WriteStream = process.stdout): number {
  return stream.isTTY ? stream.columns : Number.POSITIVE_INFINITY;
}

/** An id as printed: shortened on a terminal, otherwise whole. */
export function shownId(id: string, width = screenWidth()): string {
  return Number.isFinite(width) ? id.slice(0, SHORT_ID_LENGTH) : id;
}

/** Exit code after Ctrl-C, as a shell reports it: 128 plus the number of SIGINT. */
export const INTERRUPTED = 130;

/** Milliseconds within which a repeated SIGINT is the same Ctrl-C: both the terminal and npm send it. */
const SECOND_INTERRUPTION = 1_000;

/** @returns a signal that Ctrl-C aborts. A second Ctrl-C ends the process at once */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  const interrupt = () => {
    first ??= Date.now();
    controller.abort();
    if (Date.now() - first >= SECOND_INTERRUPTION) process.exit(INTERRUPTED);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  return controller.signal;
}

/** @throws CommandError if there is no terminal for a question */
export function requireTerminal(): void {
  if (process.stdin.isTTY) return;
  throw new CommandError('There is no terminal for the confirmation. Check with --dry-run, then use --yes');
}

/**
 * Asks a question on standard error. Only yes means yes; Ctrl-C means no.
 * @throws CommandError if there is no terminal for the question
 */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  requireTerminal();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // During the question, readline receives Ctrl-C, and the terminal sends no signal.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([terminal.question(`${question} [y/N] `, { signal }), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    terminal.close();
  }
}

/**
 * Ends a command without an error when its output is no longer read, as with `head -1`. Work that Ctrl-C can interrupt
 * ends as with Ctrl-C.
 */
export function endWithClosedPipe(): void {
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
