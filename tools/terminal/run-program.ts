import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a program of `node_modules` on this Node.js, with this terminal, to its end.
 * @returns its exit code; 1 where a signal ended it
 */
export async function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  // The terminal interrupts the program as well, which says itself how it ended.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  const [code] = (await once(child, 'close')) as [number | null];
  process.off('SIGINT', ignore);
  return code ?? 1;
}

/** Jest with ES modules, on what its configuration names. */
export const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
