import { Stack } from 'aws-cdk-lib';
import type { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { SERVER_ERROR } from '../../lambda/log-messages.ts';
import { acknowledge } from '../acknowledge.ts';
import type { AlarmName } from '../alarms/alarm-table.ts';
import type { Alarms } from '../alarms/alarms.ts';
import { logLink } from '../alarms/console-links.ts';
import { type MetricSource, metricsUnder } from '../alarms/log-metrics.ts';
import { INVOCATION_FAILED, messagePattern } from '../alarms/log-patterns.ts';
import { LIVE, type ReleasedFunction } from '../pipeline/webhook-function.ts';

interface ReceiverCanaryProps {
  readonly receiver: ReleasedFunction;
  readonly consumers: readonly ReleasedFunction[];
  readonly alarms: Alarms;
}

/**
 * Shifts the receiver in two steps: 10 % of the traffic for five minutes, then the rest. The rollback alarms watch only
 * the new version, because failures of the current version must not block its fix.
 *
 * There must be no second canary. If one fails, CloudFormation stops waiting for the others, but their deployments
 * continue. The rollback then fails, because CodeDeploy refuses a second deployment of the same group:
 * https://github.com/aws/serverless-application-model/issues/291.
 */
export class ReceiverCanary extends Construct {
  constructor(scope: Construct, id: string, { receiver, consumers, alarms }: ReceiverCanaryProps) {
    super(scope, id);
    const { alias, function: receiverFunction, service, logGroup, newVersion } = receiver;
    // The role has no managed policy: AWS's policy for CodeDeploy would allow moving the alias of every function of the
    // account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') });
    role.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'],
        resources: [receiverFunction.functionArn, `${receiverFunction.functionArn}:${LIVE}`],
      }),
    );
    role.addToPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }));
    acknowledge(
      role,
      'AwsSolutions-IAM5[Resource::*]',
      'As in AWS’ own policy for it: how CodeDeploy asks for alarms is not documented, and one that it may not see would stop every deployment.',
    );

    const rollbackAlarm = (
      name: Extract<AlarmName, `Canaries/${string}`>,
      metricsOf: MetricSource,
      pattern: string,
    ) => {
      const alarm = alarms.add(this, name, { metricsOf, links: [logLink(logGroup, pattern)] });
      // A new name for each version makes a new alarm. An alarm that is only changed keeps its state, so after a
      // rollback it would still fire. CodeDeploy starts no deployment while an alarm fires, not even that of the fix.
      // Sources: CloudWatch API reference, `PutMetricAlarm`; CodeDeploy user guide, "Monitoring deployments with
      // alarms".
      (alarm.node.defaultChild as CfnAlarm).alarmName =
        `${Stack.of(this).stackName}-${alarm.node.id}-${newVersion}`;
      return alarm;
    };
    const group = new LambdaDeploymentGroup(this, service, {
      application: new LambdaApplication(this, 'Application'),
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [
        rollbackAlarm(
          'Canaries/ReceiverAnswers500',
          receiver.reported({ version: newVersion }),
          messagePattern(SERVER_ERROR),
        ),
        rollbackAlarm(
          'Canaries/ReceiverDies',
          // These exist only while traffic is shifted. Source: Lambda developer guide, "Types of metrics",
          // `ExecutedVersion`.
          metricsUnder('AWS/Lambda', {
            FunctionName: receiverFunction.functionName,
            Resource: `${receiverFunction.functionName}:${LIVE}`,
            ExecutedVersion: newVersion,
          }),
          INVOCATION_FAILED,
        ),
      ],
      role: role.withoutPolicyUpdates(),
    });
    // An alias must not be moved before its role has the permission.
    group.node.addDependency(role);
    // The receiver is last, so that no consumer fails while CodeDeploy shifts.
    for (const consumer of consumers) alias.node.addDependency(consumer.alias);
  }
}
