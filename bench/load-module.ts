import { spawnSync } from 'node:child_process';
import { receiverEnvironment } from './receiver.ts';

/**
 * Milliseconds that a fresh process takes to load a bundle, its own start not counted.
 * @param flags of Node.js
 */
export function load(file: string, flags: readonly string[] = []): number {
  const script = `const t = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - t); process.exit()`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '-e', script],
    { env: { ...process.env, ...receiverEnvironment('x') }, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}
