import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { Partner } from '../acceptance/partner.ts';
import { type Outputs, readTarget } from '../acceptance/target.ts';
import { readWebhookSecret } from '../acceptance/webhook-secret.ts';
import type { Ended } from './command.ts';
import type { ClientSettings } from './emulator.ts';
import { optionsOf } from './stage.ts';

/** What `cdk deploy` is told so that the new receiver cannot read its secret: there is none of that name. */
function badDeployment({ WebhookSecretArn }: Outputs): readonly string[] {
  return optionsOf({
    name: 'dev',
    fields: {
      secretArn: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:nobody-has-it-AbCdEf',
      previousSecretArn: WebhookSecretArn,
    },
  });
}

/**
 * Deploys a receiver that cannot work. The deployment must fail and be rolled back, and all the while every
 * delivery must be accepted.
 * @param deploy runs `cdk deploy` with further options
 * @throws Error with what was otherwise
 */
export async function mustRollBack(
  settings: ClientSettings,
  outputsFile: string,
  deploy: (options: readonly string[]) => Promise<Ended>,
): Promise<void> {
  const { stackName, outputs } = readTarget(outputsFile);
  const partner = new Partner(
    outputs.WebhookUrl,
    await readWebhookSecret(outputs.WebhookSecretArn, settings),
  );
  let ended: Ended | undefined;
  const deployment = deploy(badDeployment(outputs)).then((result) => {
    ended = result;
    return result;
  });
  const statuses = new Map<number, number>();
  do {
    const { status } = await partner.post({
      event: 'shop.updated',
      data: { shop_id: 'roll-back' },
      timestamp: '2026-01-31T09:00:00Z',
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  } while (ended === undefined);

  const { code, output } = await deployment;
  if (code === 0) throw new Error(`A receiver that cannot read its secret was deployed:\n${output}`);
  if (!output.includes('answered 500 instead of 401 to a wrong signature')) {
    throw new Error(`It was not the smoke test that failed:\n${output}`);
  }
  const { Stacks = [] } = await new CloudFormationClient(settings).send(
    new DescribeStacksCommand({ StackName: stackName }),
  );
  if (Stacks[0]?.StackStatus !== 'UPDATE_ROLLBACK_COMPLETE') {
    throw new Error(`The stack was not rolled back, it is ${Stacks[0]?.StackStatus}:\n${output}`);
  }
  if ([...statuses.keys()].some((status) => status !== 200)) {
    const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
    throw new Error(`Deliveries during the failed deployment were answered: ${counts}`);
  }
}
