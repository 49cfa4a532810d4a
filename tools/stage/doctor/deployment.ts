import { isDeepStrictEqual } from 'node:util';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetAliasCommand } from '@aws-sdk/client-lambda';
import { ago, counted, printable } from '../../terminal/text.ts';
import { pausesOf } from '../queues/pause.ts';
import { failure, ok, problemsOr, type StageCheck, skipped, warning } from './inspection.ts';

const IS_LOCAL = skipped('the local stack always runs this code, in one version');

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
    name: 'this code',
    needs: ['cloudformation:GetTemplate', 'cloudformation:ListStackResources'],
    why: 'The code in this folder is not what runs.',
    fix: ({ stageName }) => `npx cdk diff -c stage=${stageName} && npx cdk deploy -c stage=${stageName}`,
    async run(inspection) {
      const { stage } = inspection;
      if (inspection.isLocalStack) return IS_LOCAL;
      const [deployed, { Outputs, Resources }] = await Promise.all([
        inspection.resources(''),
        inspection.code(),
      ]);
      const missing = Object.keys(Outputs).filter((name) => stage.outputs[name] === undefined);
      const why = 'Commands find queues, logs and streams by them. Another version of the code is deployed.';
      if (missing.length > 0) return failure(`outputs missing: ${missing.join(', ')}`, { why });
      // Only types and properties are compared: the CDK adds metadata when it deploys.
      const there = new Map(deployed.map((one) => [one.logicalId, one]));
      const code = new Map(Object.entries(Resources));
      const differing = [...new Set([...there.keys(), ...code.keys()])]
        .filter((id) => !isDeepStrictEqual(there.get(id)?.properties, code.get(id)?.Properties))
        .map((id) => (code.get(id)?.Type ?? there.get(id)?.type ?? '').replace('AWS::', ''))
        .filter((type) => type !== 'CDK::Metadata');
      if (differing.length === 0) return ok('deployed as it is in this folder');
      return warning(
        `${counted(differing.length, 'resource')} differ: ${[...new Set(differing)].join(', ')}`,
      );
    },
  },
  {
    name: 'functions',
    needs: ['lambda:GetAlias'],
    why: 'A deployment shifts the receiver’s traffic now, was interrupted, or somebody rolled back by hand: docs/deploying.md, "Roll back by hand".',
    async run(inspection) {
      if (inspection.isLocalStack) return IS_LOCAL;
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
