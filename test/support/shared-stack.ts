import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LocalStack } from 'local-aws';
import { testAssembly } from './test-assembly.ts';

/** The parts of a local stack that another process can use. */
export type SharedStack = Pick<LocalStack, 'name' | 'outputs' | 'operator'>;

/**
 * The local stack that the test files of a Jest worker share. It is for tests that use their own ids and names, and
 * need neither empty queues nor special settings. The first file that needs it starts it. It ends with the worker.
 */
export async function sharedStack(): Promise<SharedStack> {
  const file = join(dirname(testAssembly()), `stack-of-${process.pid}.json`);
  if (existsSync(file)) {
    const { pid, stack } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; stack: SharedStack };
    if (isRunning(pid)) return stack;
  }
  const child = spawn(process.execPath, ['test/support/stack-process.ts'], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  if (!(line instanceof Uint8Array)) throw new Error(`The shared stack ended with ${line}`);
  // The worker must be able to end. Its end closes the pipe, which ends the stack.
  for (const handle of [child, child.stdin, child.stdout]) (handle as unknown as { unref(): void }).unref();
  const stack = JSON.parse(String(line)) as SharedStack;
  writeFileSync(file, JSON.stringify({ pid: child.pid, stack }));
  return stack;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
