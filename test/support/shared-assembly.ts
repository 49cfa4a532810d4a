import { dirname, join } from 'node:path';
import { synthesiseOnce } from './synthesiser.ts';
import { testAssembly } from './test-stack.ts';

/**
 * A cloud assembly that is synthesised when the first test file asks for it, for all that do.
 * @param name of its own among all of them
 * @param overrides of the context in `cdk.json`
 * @returns its folder
 */
export async function sharedAssembly(name: string, overrides: Record<string, unknown>): Promise<string> {
  const folder = join(dirname(testAssembly()), name);
  await synthesiseOnce({ folder, overrides });
  return folder;
}
