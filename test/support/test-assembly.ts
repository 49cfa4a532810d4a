import { dirname, join } from 'node:path';
import { synthesiseOnce } from './synthesiser.ts';

/** The folder with the global set-up's synthesised stack. */
export function testAssembly(): string {
  const folder = process.env.TEST_ASSEMBLY;
  if (folder === undefined) throw new Error('The global set-up has not synthesised the stack');
  return folder;
}

/**
 * A cloud assembly that the first test file synthesises, for all that need it.
 * @param name unique among all of them
 * @param overrides of the context in `cdk.json`
 * @param validate whether to check it against CloudFormation's rules, which takes longer than the synthesis
 * @returns its folder
 */
export async function sharedAssembly(
  name: string,
  overrides: Record<string, unknown>,
  validate = true,
): Promise<string> {
  const folder = join(dirname(testAssembly()), name);
  await synthesiseOnce({ folder, overrides, validate });
  return folder;
}
