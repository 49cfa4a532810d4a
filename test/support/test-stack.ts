import { dirname, join } from 'node:path';
import type { StageConfig } from '../../lib/config.ts';
import { type LocalStack, type LocalStackOptions, startLocalStack } from '../../tools/local/local-stack.ts';
import { stageOverrides } from '../../tools/local/template/synthesise.ts';
import { ACTIVE_MUTANT } from './active-mutant.ts';
import { synthesiseOnce } from './synthesiser.ts';

export const TEST_SECRET = 'test-webhook-secret';

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
 * @returns its folder
 */
export async function sharedAssembly(name: string, overrides: Record<string, unknown>): Promise<string> {
  const folder = join(dirname(testAssembly()), name);
  await synthesiseOnce({ folder, overrides });
  return folder;
}

/**
 * The cloud assembly of the stack with this kind of API.
 * @returns its folder
 */
export async function gatewayAssembly(gateway: StageConfig['gateway']): Promise<string> {
  return gateway === 'http' ? testAssembly() : sharedAssembly(gateway, stageOverrides({ gateway }));
}

/**
 * The same, with other settings of the stage.
 * @param name unique among those with other settings
 */
export function scarceAssembly(
  gateway: StageConfig['gateway'],
  name: string,
  fields: object,
): Promise<string> {
  return sharedAssembly(`${gateway}-${name}`, stageOverrides({ ...fields, gateway }));
}

/**
 * Starts the local stack on free ports. Problems of the stack itself go to the console. Functions are loaded when they
 * are called, because a test calls only two or three of nine.
 */
export function startTestStack(options: Partial<LocalStackOptions> = {}): Promise<LocalStack> {
  return startLocalStack({
    assembly: testAssembly(),
    port: 0,
    awsPort: 0,
    secret: TEST_SECRET,
    warmUp: false,
    onProblem: (message) => console.error(message),
    ...options,
    environment: { ...mutantEnvironment(), ...options.environment },
  });
}

/** Additional environment variables of a function, which turn on the current mutant of `npx hookctl mutate`. */
function mutantEnvironment(): Record<string, string> {
  const mutant = process.env[ACTIVE_MUTANT];
  return mutant === undefined ? {} : { [ACTIVE_MUTANT]: mutant };
}
