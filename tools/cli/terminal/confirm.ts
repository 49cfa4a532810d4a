import { createInterface } from 'node:readline/promises';
import { CommandError } from './command-error.ts';

/** @throws CommandError if there is no terminal to ask in */
export function requireTerminal(): void {
  if (process.stdin.isTTY) return;
  throw new CommandError('There is no terminal to confirm this in. Check it with --dry-run, then use --yes');
}

/**
 * Asks on standard error. Anything but yes is no, and so is Ctrl-C.
 * @throws CommandError if there is no terminal to ask in
 */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  requireTerminal();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // It takes Ctrl-C from the terminal, which then sends no signal.
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
