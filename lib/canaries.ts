import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { LIVE, type ReleasedFunction } from './released-function.ts';

export interface CanariesProps {
  readonly functions: readonly ReleasedFunction[];
  /** Any of them, while traffic is shifted, sends all of it back to the version before. */
  readonly rollBackOn: readonly IAlarm[];
}

/** Shifts each function in two steps: a tenth of the traffic for five minutes, then the rest. */
export class Canaries extends Construct {
  constructor(scope: Construct, id: string, { functions, rollBackOn }: CanariesProps) {
    super(scope, id);
    const application = new LambdaApplication(this, 'Application');
    const arns = functions.map((item) => item.function.functionArn);
    // AWS' managed policy allows moving the alias of every function of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') });
    role.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'],
        resources: arns.flatMap((arn) => [arn, `${arn}:${LIVE}`]),
      }),
    );
    role.addToPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }));
    acknowledge(
      role,
      'AwsSolutions-IAM5[Resource::*]',
      'Alarms are described by a list of names, not one by one.',
    );

    for (const { alias, service } of functions) {
      const group = new LambdaDeploymentGroup(this, service, {
        application,
        alias,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
        alarms: [...rollBackOn],
        role: role.withoutPolicyUpdates(),
      });
      // An alias must not begin to move before its mover may move it.
      group.node.addDependency(role);
    }
  }
}
