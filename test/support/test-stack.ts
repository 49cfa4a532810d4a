import { type LocalStack, type LocalStackOptions, startLocalStack } from 'local-aws';
import { TEST_SECRET } from './partner.ts';
import { testAssembly } from './test-assembly.ts';

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
  });
}
