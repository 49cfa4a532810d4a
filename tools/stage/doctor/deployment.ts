import { isDeepStrictEqual } from 'node:util';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetAliasCommand } from '@aws-sdk/client-lambda';
import { ago, printable } from '../../terminal/text.ts';
import { pausesOf } from '../queues/pause.ts';
import { failure, ok, problemsOr, type StageCheck, skipped, warning } from './inspection.ts';

export const deploymentChecks: readonly StageCheck[] = [
  {
    name: 'stack',
    needs: ['cloudformation:DescribeStacks'],
    why: 'The last deployment failed, hangs or still runs. After a failed rollback, no deployment is possible: docs/deploying.md, "The rollback failed".',
    fix: ({ stage }) =>
      `aws cloudformation describe-stack-events --stack-name ${stage.stackName} --max-items 20 --query 'StackEvents[].[Timestamp,LogicalResourceId,ResourceStatus,ResourceStatusReason]' --output text`,
    async run(inspection) {
      const client = inspection.stage.client(CloudFormationClient);
      const query = { StackName: inspection.stage.stackName };
      const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand(query));
      const { StackStatus: status = '', LastUpdatedTime, CreationTime } = stack ?? {};
      const seen = `${status}, ${ago(LastUpdatedTime ?? CreationTime)}`;
      if (status.endsWith('_FAILED')) return failure(seen);
      return /_IN_PROGRESS$|ROLLBACK/.test(status) ? warning(seen) : ok(seen);
    },
  },
  {
    name: 'functions',
    needs: ['cloudformation:GetTemplate', 'cloudformation:ListStackResources', 'lambda:GetAlias'],
    why: 'A deployment shifts the receiver’s traffic now, was interrupted, or somebody rolled back by hand: docs/deploying.md, "Roll back by hand".',
    async run(inspection) {
      if (inspection.isLocalStack) return skipped('the local stack runs each function in one version');
      const versions = await inspection.resources('AWS::Lambda::Version');
      const aliases = await inspection.resources('AWS::Lambda::Alias');
      const results = aliases.map(async ({ physicalId, properties }) => {
        const [, FunctionName = '', Name] = /:function:([^:]+):(.+)$/.exec(physicalId) ?? [];
        const newest = versions
          .find((one) => isDeepStrictEqual(one.properties.FunctionName, properties.FunctionName))
          ?.physicalId.replace(/.*:/, '');
        const alias = await inspection.stage.lambda.send(new GetAliasCommand({ FunctionName, Name }));
        const shares = Object.entries(alias.RoutingConfig?.AdditionalVersionWeights ?? {});
        if (alias.FunctionVersion === newest && shares.length === 0) return undefined;
        const shifted = shares.map(
          ([version, share]) => `, and ${Math.round(share * 100)} % version ${version}`,
        );
        const seen = `${FunctionName} runs version ${alias.FunctionVersion}${shifted.join('')}; ${newest} was deployed`;
        const fix = `aws lambda update-alias --function-name ${FunctionName} --name ${Name} --function-version ${newest} --routing-config AdditionalVersionWeights={}`;
        return warning(seen, { fix });
      });
      return problemsOr(`all ${aliases.length} on their newest version`, await Promise.all(results));
    },
  },
  {
    name: 'pauses',
    needs: ['lambda:ListEventSourceMappings', 'cloudwatch:DescribeAlarms', 'sqs:GetQueueAttributes'],
    why: 'Events wait on their queue. SQS deletes them 7 days after their arrival.',
    async run({ stage }) {
      const pauses = (await pausesOf(stage)).map(({ event, by, since, reason = '', running }) => {
        const fix = stage.command(event, 'resume');
        if (by === undefined) return failure(`${event} is off, but nobody paused it with a reason`, { fix });
        const seen = `${event} paused ${ago(since)} by ${by.replace(/.*\//, '')}: ${printable(reason)}`;
        if (!running) return warning(seen, { fix });
        return warning(`${seen}. But it is on`, { why: 'It is processed in spite of the pause.', fix });
      });
      return problemsOr('all events are processed', pauses);
    },
  },
];
