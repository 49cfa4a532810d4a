import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Whether there is somebody to ask. */
export const canAsk = () => process.stdin.isTTY === true && process.stdout.isTTY === true;

/**
 * Asks whoever is at the terminal whether to go on.
 * @returns whether the answer was y or yes; Ctrl-C and the end of the input are a no
 */
export async function agreed(
  question: string,
  signal: AbortSignal,
  { input, output }: Terminal = { input: process.stdin, output: process.stdout },
): Promise<boolean> {
  // Not as a terminal: Ctrl-C shall come as the signal that it is everywhere else.
  const lines = createInterface({ input, output, terminal: false });
  try {
    const ended = once(lines, 'close').then(() => '');
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal }), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    lines.close();
  }
}
