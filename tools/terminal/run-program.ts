import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { INTERRUPTED } from './terminal.ts';

/**
 * Runs a program of `node_modules` with this Node.js and this terminal, and waits for its end. A signal that
 * ends this process ends the program, too.
 * @returns the program's exit code; {@link INTERRUPTED} after Ctrl-C, and 1 if another signal ended the
 * program
 */
export async function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  let interrupted = false;
  // The terminal sends Ctrl-C to the program as well. This process waits for the program's own exit code.
  const interrupt = () => {
    interrupted = true;
  };
  const passOn = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGINT', interrupt).on('SIGTERM', passOn).on('SIGHUP', passOn);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    // The reader of the program's output has ended, as with `| head`.
    if (signal === 'SIGPIPE') return 0;
    return interrupted ? INTERRUPTED : (code ?? 1);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', passOn).off('SIGHUP', passOn);
  }
}

/** Arguments of Node.js that run Jest with ES modules. Source: Jest, "ECMAScript Modules". */
export const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
