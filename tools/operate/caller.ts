import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import type { FoundStack } from './stack.ts';

/** ARN of whoever runs the command. */
export async function caller({ sts }: Pick<FoundStack, 'sts'>): Promise<string> {
  const { Arn = 'unknown' } = await sts.send(new GetCallerIdentityCommand({}));
  return Arn;
}
