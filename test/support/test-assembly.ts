import { dirname, join } from 'node:path';
import { stageOverrides } from '../../bin/synthesise.ts';
import type { StageConfig } from '../../lib/config.ts';
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

/**
 * The cloud assembly of the stack with this kind of API. It is not validated, because the tests of all stages validate
 * both kinds.
 * @returns its folder
 */
export async function gatewayAssembly(gateway: StageConfig['gateway']): Promise<string> {
  return gateway === 'http' ? testAssembly() : sharedAssembly(gateway, stageOverrides({ gateway }), false);
}

/**
 * Like {@link gatewayAssembly}, but with other settings of the stage.
 * @param name unique among the assemblies with other settings
 */
export function scarceAssembly(
  gateway: StageConfig['gateway'],
  name: string,
  fields: object,
): Promise<string> {
  return sharedAssembly(`${gateway}-${name}`, stageOverrides({ ...fields, gateway }), false);
}
