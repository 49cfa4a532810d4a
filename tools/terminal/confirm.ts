import { createInterface } from 'node:readline/promises';
import { CommandError } from './command-error.ts';

/** @throws CommandError where nobody can answer a question */
export function requireSomebodyToAsk(): void {
  if (process.stdin.isTTY) return;
  throw new CommandError('It asks first, and nobody can answer here: look with --dry-run, then say --yes');
}

/**
 * Asks whoever types, on standard error. Anything but yes is no, and so is Ctrl-C.
 * @throws CommandError where nobody can answer
 */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  requireSomebodyToAsk();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // It takes Ctrl-C from the terminal, so that no signal comes by itself.
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
