import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import type { Stage } from './stage.ts';

/** ARN of whoever runs the command. */
export async function caller({ sts }: Pick<Stage, 'sts'>): Promise<string> {
  const { Arn = 'unknown' } = await sts.send(new GetCallerIdentityCommand({}));
  return Arn;
}
