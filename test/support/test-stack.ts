import { type LocalStack, type LocalStackOptions, startLocalStack } from '../../local/local-stack.ts';
import { mutantEnvironment } from './mutant.ts';

export const TEST_SECRET = 'test-webhook-secret';

/** The folder that the global set-up synthesised the stack to. */
export function testAssembly(): string {
  const folder = process.env.TEST_ASSEMBLY;
  if (folder === undefined) throw new Error('The global set-up has not synthesised the stack');
  return folder;
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
