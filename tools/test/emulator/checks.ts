import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { AthenaClient, ListWorkGroupsCommand } from '@aws-sdk/client-athena';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { FirehoseClient, ListDeliveryStreamsCommand } from '@aws-sdk/client-firehose';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListSubscriptionsCommand, ListTopicsCommand, SNSClient } from '@aws-sdk/client-sns';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { readTarget, readWebhookSecret } from '../../../test/acceptance/target.ts';
import { Partner } from '../../../test/support/partner.ts';
import { type ClientSettings, type Emulator, type Ended, optionsOf, run } from './emulator.ts';

/** Milliseconds between the deliveries during a deployment: a few for each second, in which the version may change. */
const DELIVERY_INTERVAL = 250;

/** Checks of `doctor` that cannot pass, because the emulator does not store the lifecycle of a bucket. */
const NOT_EMULATED = ['archive retention'];

/**
 * Runs `doctor` for a stage. What was just deployed must be up to date, and no check may fail.
 * @throws Error that describes the difference
 */
export async function mustBeHealthy(stage: string, environment: Emulator['environment']): Promise<void> {
  const { output } = await run(['npx', 'hookctl', 'doctor', '--stage', stage, '--json'], environment);
  const { checks }: { checks: { name: string; state: string }[] } = JSON.parse(
    output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1),
  );
  const inState = (...states: readonly string[]) =>
    checks.filter(({ state }) => states.includes(state)).map(({ name }) => name);
  assert.deepEqual(inState('failure'), NOT_EMULATED, output);
  for (const name of ['stack', 'this code', 'functions', 'event sources']) {
    assert.ok(inState('ok').includes(name), output);
  }
}

/** Resources in the emulator, such as `queue https://…`, without those of `cdk bootstrap`. */
export async function left(settings: ClientSettings): Promise<string[]> {
  const sns = new SNSClient(settings);
  const { Stacks } = await new CloudFormationClient(settings).send(new DescribeStacksCommand());
  const { TableNames } = await new DynamoDBClient(settings).send(new ListTablesCommand());
  const { Functions } = await new LambdaClient(settings).send(new ListFunctionsCommand());
  const { Buckets } = await new S3Client(settings).send(new ListBucketsCommand());
  const { SecretList } = await new SecretsManagerClient(settings).send(new ListSecretsCommand());
  const { Topics } = await sns.send(new ListTopicsCommand());
  const { Subscriptions } = await sns.send(new ListSubscriptionsCommand());
  const { QueueUrls } = await new SQSClient(settings).send(new ListQueuesCommand());
  const { DeliveryStreamNames } = await new FirehoseClient(settings).send(new ListDeliveryStreamsCommand());
  const { WorkGroups } = await new AthenaClient(settings).send(new ListWorkGroupsCommand());
  const names = {
    stack: Stacks?.map(({ StackName }) => StackName),
    table: TableNames,
    function: Functions?.map(({ FunctionName }) => FunctionName),
    bucket: Buckets?.map(({ Name }) => Name),
    secret: SecretList?.map(({ Name }) => Name),
    topic: Topics?.map(({ TopicArn }) => TopicArn),
    subscription: Subscriptions?.map(({ SubscriptionArn }) => SubscriptionArn),
    queue: QueueUrls,
    stream: DeliveryStreamNames,
    workgroup: WorkGroups?.map(({ Name }) => Name),
  };
  return Object.entries(names).flatMap(([kind, list = []]) => list.map((name) => `${kind} ${name}`));
}

/** Options of `cdk deploy` for a receiver that fails, because its secret does not exist. */
const BAD_DEPLOYMENT = optionsOf({
  name: 'dev',
  fields: { secretArn: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:nobody-has-it-AbCdEf' },
});

/**
 * Deploys a receiver that cannot work. The deployment must fail and be rolled back, and meanwhile every delivery must
 * be accepted.
 * @param deploy runs `cdk deploy` with further options
 * @throws Error that describes the difference
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
  const deployment = deploy(BAD_DEPLOYMENT).then((result) => {
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
    await sleep(DELIVERY_INTERVAL);
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
