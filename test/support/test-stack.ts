import { dirname, join } from 'node:path';
import { type LocalStack, type LocalStackOptions, startLocalStack } from '../../local/local-stack.ts';
import { stageOverrides } from '../../local/template/synthesise.ts';
import type { GatewayKind } from '../../tools/cli/terminal/options.ts';
import { ACTIVE_MUTANT } from '../mutate/likely-first.ts';
import { synthesiseOnce } from './synthesiser.ts';

export const TEST_SECRET = 'test-webhook-secret';

/** The folder that the global set-up synthesised the stack to. */
export function testAssembly(): string {
  const folder = process.env.TEST_ASSEMBLY;
  if (folder === undefined) throw new Error('The global set-up has not synthesised the stack');
  return folder;
}

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

/** Kinds of API that the stack can have before its receiver. */
export const gateways: readonly GatewayKind[] = ['http', 'rest'];

/** The cloud assembly of the stack with such an API. @returns its folder */
export async function gatewayAssembly(gateway: GatewayKind): Promise<string> {
  return gateway === 'http' ? testAssembly() : sharedAssembly(gateway, stageOverrides({ gateway }));
}

/** The same, with other settings of the stage besides. @param name of its own among those with others */
export function scarceAssembly(gateway: GatewayKind, name: string, fields: object): Promise<string> {
  return sharedAssembly(`${gateway}-${name}`, stageOverrides({ ...fields, gateway }));
}

/**
 * Starts the local stack on free ports; problems of the stack itself go to the console. Its functions are loaded when
 * they are called: a test calls two or three of nine.
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

/** What a function's environment needs besides, so that the mutant that `npm run mutate` tries is on in it, too. */
function mutantEnvironment(): Record<string, string> {
  const mutant = process.env[ACTIVE_MUTANT];
  return mutant === undefined ? {} : { [ACTIVE_MUTANT]: mutant };
}
