import { outputOf } from './output-of.ts';
import { receiverEnvironment } from './receiver.ts';

/**
 * Milliseconds that a fresh process takes to load a bundle, its own start not counted.
 * @param flags of Node.js
 */
export async function load(
  file: string,
  flags: readonly string[] = [],
  signal?: AbortSignal,
): Promise<number> {
  const script = `const t = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - t); process.exit()`;
  const words = [...flags, '--input-type=module', '-e', script];
  return Number(await outputOf(words, { env: receiverEnvironment('x'), signal }));
}
