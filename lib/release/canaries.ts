import { Stack } from 'aws-cdk-lib';
import type { CfnAlarm, IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { DEAD_LETTERED, FAILED, SERVER_ERROR } from '../../lambda/log-messages.ts';
import { acknowledge } from '../acknowledge.ts';
import type { AlarmName } from '../alarms/alarm-table.ts';
import type { Alarms } from '../alarms/alarms.ts';
import { logLink } from '../alarms/console-links.ts';
import { logMetrics, type MetricSource } from '../alarms/log-metrics.ts';
import { INVOCATION_FAILED, messagePattern } from '../alarms/log-patterns.ts';
import { LIVE, type ReleasedFunction } from '../pipeline/webhook-function.ts';

interface CanariesProps {
  readonly receiver: ReleasedFunction;
  readonly consumers: readonly ReleasedFunction[];
  readonly alarms: Alarms;
}

/**
 * Shifts each function in two steps: 10 % of the traffic for five minutes, then the rest. The rollback alarms watch
 * only the new version, because failures of the current version must not block its fix.
 */
export class Canaries extends Construct {
  constructor(scope: Construct, id: string, { receiver, consumers, alarms }: CanariesProps) {
    super(scope, id);
    const functions = [receiver, ...consumers];
    const application = new LambdaApplication(this, 'Application');
    const arns = functions.map((item) => item.function.functionArn);
    // The role has no managed policy: AWS's policy for CodeDeploy would allow moving the alias of every function of the
    // account.
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
      'As in AWS’ own policy for it: how CodeDeploy asks for alarms is not documented, and one that it may not see would stop every deployment.',
    );

    const rollbackAlarm = (
      name: AlarmName,
      released: ReleasedFunction,
      metricsOf: MetricSource,
      pattern: string,
    ) => {
      const { service, logGroup, newVersion } = released;
      const id = name.replace('Canaries/', '').replace('<event>', service);
      const alarm = alarms.add(this, name, {
        id,
        metricsOf,
        text: { service },
        links: [logLink(logGroup, pattern)],
      });
      // A new name for each version makes a new alarm. An alarm that is only changed keeps its state, so after a
      // rollback it would still fire. CodeDeploy starts no deployment while an alarm fires, not even that of the fix.
      // Sources: CloudWatch API reference, `PutMetricAlarm`; CodeDeploy user guide, "Monitoring deployments with
      // alarms".
      (alarm.node.defaultChild as CfnAlarm).alarmName = `${Stack.of(this).stackName}-${id}-${newVersion}`;
      return alarm;
    };
    const errors = ({ service, newVersion }: ReleasedFunction) =>
      logMetrics(this, { service, version: newVersion });
    const ofReceiver = [
      rollbackAlarm('Canaries/ReceiverAnswers500', receiver, errors(receiver), messagePattern(SERVER_ERROR)),
      rollbackAlarm('Canaries/ReceiverDies', receiver, receiver.newVersionMetrics, INVOCATION_FAILED),
    ];
    const failed = messagePattern(FAILED, DEAD_LETTERED);
    for (const consumer of consumers) {
      const own = [
        rollbackAlarm('Canaries/<event>-fails', consumer, errors(consumer), failed),
        rollbackAlarm('Canaries/<event>-dies', consumer, consumer.newVersionMetrics, INVOCATION_FAILED),
      ];
      this.#shift(consumer, application, role, [...ofReceiver, ...own]);
    }
    this.#shift(receiver, application, role, ofReceiver);
  }

  #shift(
    { alias, service }: ReleasedFunction,
    application: LambdaApplication,
    role: Role,
    rollBackOn: readonly IAlarm[],
  ): void {
    const group = new LambdaDeploymentGroup(this, service, {
      application,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [...rollBackOn],
      role: role.withoutPolicyUpdates(),
    });
    // An alias must not be moved before its role has the permission.
    group.node.addDependency(role);
  }
}
