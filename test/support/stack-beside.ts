import { deployStack } from '../../local/deployed-stack.ts';
import type { FunctionLogLine } from '../../local/functions/invocation.ts';
import type { LocalStack } from '../../local/local-stack.ts';
import { TEST_SECRET } from './test-stack.ts';

/** Another stack that uses resources of the local stack, such as a subscriber of its topics. */
export interface StackBeside {
  readonly outputs: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Runs another stack at the AWS endpoint of the local stack. It may have functions with queues, but no API.
 * @param assembly folder of its cloud assembly
 * @param onLog is called with every line of its functions
 */
export async function runBeside(
  { aws }: LocalStack,
  assembly: string,
  onLog: (line: FunctionLogLine) => void,
): Promise<StackBeside> {
  const location = { awsUrl: aws.url, apiUrl: '' };
  const onProblem = (message: string) => console.error(message);
  const stack = await deployStack(assembly, aws, { location, secret: TEST_SECRET, onProblem, onLog });
  return { outputs: stack.outputs(), close: stack.close };
}
