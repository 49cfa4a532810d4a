import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AthenaClient, ListDatabasesCommand, ListWorkGroupsCommand } from '@aws-sdk/client-athena';
import {
  CloudFormationClient,
  DeleteStackCommand,
  DescribeStacksCommand,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import {
  DeleteTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
} from '@aws-sdk/client-dynamodb';
import { FirehoseClient, ListDeliveryStreamsCommand } from '@aws-sdk/client-firehose';
import {
  DeleteFunctionConcurrencyCommand,
  LambdaClient,
  ListFunctionsCommand,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListSubscriptionsCommand, ListTopicsCommand, SNSClient } from '@aws-sdk/client-sns';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { eventNames } from '../../../lambda/events/catalogue.ts';
import { Partner } from '../../../test/acceptance/partner.ts';
import { readTarget, readWebhookSecret } from '../../../test/acceptance/target.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { CommandRun, DeliveryDetail, DeliveryList, QueuesInfo, StackInfo } from '../../console/api.ts';
import { type ClientSettings, type Emulator, type Ended, optionsOf, run, start, stop } from './emulator.ts';

/**
 * Limits in milliseconds. They are long, because the emulator starts each function in a process of its own.
 */
const PATIENCE = { limit: 120_000, interval: 500 };

/** Milliseconds between the deliveries during a deployment: a few for each second, in which the version may change. */
const DELIVERY_INTERVAL = 250;

/**
 * Opens the console of a stage as a person does. Follows a delivery through the stage's logs, archive and table, and
 * pauses an event.
 * @throws Error that describes the difference
 */
export async function mustShow(
  stage: string,
  outputsFile: string,
  { environment, settings }: Pick<Emulator, 'environment' | 'settings'>,
): Promise<void> {
  const { outputs } = readTarget(outputsFile);
  const secret = await readWebhookSecret(outputs.WebhookSecretArn, settings);
  // The console posts with Node's own client, which cannot resolve names below `.localhost`.
  const partner = new Partner(outputs.WebhookUrl, secret);
  const command = start(['npx', 'hookctl', 'console', '--stage', stage, '--port', '0'], environment);
  try {
    await useConsole(stage, await addressOf(command), partner);
  } finally {
    await stop(command);
  }
}

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

async function addressOf(command: ChildProcess): Promise<URL> {
  let output = '';
  for (const stream of [command.stdout, command.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return eventually(async () => {
    if (command.exitCode !== null) throw new Error(`The console ended: ${output}`);
    const [, address] = /Console {3}(\S+)/.exec(output) ?? [];
    return address === undefined ? undefined : new URL(address);
  }, PATIENCE);
}

async function useConsole(stage: string, address: URL, partner: Partner): Promise<void> {
  const { origin } = address;
  const opened = await fetch(address, { redirect: 'manual' });
  const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
  const headers = { cookie, 'content-type': 'application/json' };

  async function ask<Answer>(path: string): Promise<Answer> {
    const response = await fetch(`${origin}/api${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  }
  async function run(...argv: string[]): Promise<void> {
    const body = JSON.stringify({ argv });
    const response = await fetch(`${origin}/api/commands`, { method: 'POST', headers, body });
    const last: CommandRun = JSON.parse((await response.text()).trimEnd().split('\n').at(-1) ?? '');
    assert.equal(last.state, 'done', last.lines.join('\n'));
  }

  const stack = await ask<StackInfo>('/stack');
  assert.deepEqual([stack.title, stack.local], [`stage ${stage} in us-east-1`, false]);

  const key = randomUUID();
  const timestamp = new Date().toISOString();
  const { body } = await partner.post({ event: 'shop.updated', data: { shop_id: key }, timestamp });
  const delivery = String(body.requestId);
  const path = `/deliveries/${encodeURIComponent(delivery)}`;
  await eventually(async () => {
    const { deliveries } = await ask<DeliveryList>('/deliveries');
    return deliveries.find(({ id, state }) => id === delivery && state === 'processed');
  }, PATIENCE);
  const detail = await eventually(async () => {
    const known = await ask<DeliveryDetail>(path);
    return known.effects.length > 0 ? known : undefined;
  }, PATIENCE);
  assert.deepEqual(detail.problems, []);
  assert.deepEqual(
    detail.effects.map((effect) => effect.kind === 'item' && [effect.table, effect.written]),
    [['ShopCacheTable', 'by this event']],
  );
  const queues = await ask<QueuesInfo>('/queues');
  assert.deepEqual(queues.problems, []);
  assert.deepEqual(
    [queues.events.map(({ event }) => event), queues.receiverQueues.map(({ name }) => name)],
    [eventNames, ['quarantine', 'unrouted']],
  );
  await run('pause', 'review.posted', '--reason', 'The console is tried');
  const { events } = await ask<QueuesInfo>('/queues');
  const paused = events.find(({ event }) => event === 'review.posted')?.paused;
  assert.equal(paused?.reason, 'The console is tried');
  await run('resume', 'review.posted');
}

/** Resources in the emulator, such as `queue https://…`, without those of `cdk bootstrap`. */
export async function left(settings: ClientSettings): Promise<string[]> {
  const sns = new SNSClient(settings);
  const athena = new AthenaClient(settings);
  const [
    stacks,
    tables,
    functions,
    buckets,
    secrets,
    topics,
    subscriptions,
    queues,
    streams,
    workgroups,
    databases,
  ] = await Promise.all([
    new CloudFormationClient(settings).send(new DescribeStacksCommand()),
    new DynamoDBClient(settings).send(new ListTablesCommand()),
    new LambdaClient(settings).send(new ListFunctionsCommand()),
    new S3Client(settings).send(new ListBucketsCommand()),
    new SecretsManagerClient(settings).send(new ListSecretsCommand()),
    sns.send(new ListTopicsCommand()),
    sns.send(new ListSubscriptionsCommand()),
    new SQSClient(settings).send(new ListQueuesCommand()),
    new FirehoseClient(settings).send(new ListDeliveryStreamsCommand()),
    athena.send(new ListWorkGroupsCommand()),
    athena.send(new ListDatabasesCommand({ CatalogName: 'AwsDataCatalog' })),
  ]);
  const names = {
    stack: stacks.Stacks?.map(({ StackName }) => StackName).filter((name) => name !== 'CDKToolkit'),
    table: tables.TableNames,
    function: functions.Functions?.map(({ FunctionName }) => FunctionName),
    bucket: buckets.Buckets?.map(({ Name }) => Name).filter((name) => !name?.startsWith('cdk-')),
    secret: secrets.SecretList?.map(({ Name }) => Name),
    topic: topics.Topics?.map(({ TopicArn }) => TopicArn),
    subscription: subscriptions.Subscriptions?.map(({ SubscriptionArn }) => SubscriptionArn),
    queue: queues.QueueUrls,
    'delivery-stream': streams.DeliveryStreamNames,
    workgroup: workgroups.WorkGroups?.map(({ Name }) => Name).filter((name) => name !== 'primary'),
    database: databases.DatabaseList?.map(({ Name }) => Name),
  };
  return Object.entries(names).flatMap(([kind, list = []]) => list.map((name) => `${kind} ${name}`));
}

/**
 * Checks that a protected stack cannot be deleted, and then removes the protection as `docs/deploying.md`
 * says.
 */
export async function unprotect(settings: ClientSettings, StackName: string): Promise<void> {
  const cloudFormation = new CloudFormationClient(settings);
  await assert.rejects(
    cloudFormation.send(new DeleteStackCommand({ StackName })),
    /TerminationProtection is enabled/,
    `${StackName} is not protected`,
  );
  await cloudFormation.send(
    new UpdateTerminationProtectionCommand({ StackName, EnableTerminationProtection: false }),
  );
}

export async function mustBeProtected(settings: ClientSettings, tables: readonly string[]): Promise<void> {
  const dynamoDb = new DynamoDBClient(settings);
  for (const TableName of tables) {
    await assert.rejects(
      dynamoDb.send(new DeleteTableCommand({ TableName })),
      /protected against deletion/,
      `${TableName} is not protected`,
    );
  }
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

const SHOP = 'shortage';

/**
 * Removes all concurrency of the receiver. A delivery must be answered 500 in the receiver's format, and must be
 * processed when it is repeated after the shortage.
 * @throws Error that describes the difference
 */
export async function mustOutlastShortage(settings: ClientSettings, outputsFile: string): Promise<void> {
  const { stackName, outputs } = readTarget(outputsFile);
  const secret = await readWebhookSecret(outputs.WebhookSecretArn, settings);
  const partner = new Partner(outputs.WebhookUrl, secret);
  const event = {
    event: 'shop.updated',
    data: { shop_id: SHOP },
    timestamp: '2026-01-31T09:00:00Z',
  };
  const lambda = new LambdaClient(settings);
  const { Functions = [] } = await lambda.send(new ListFunctionsCommand());
  const FunctionName = Functions.map(({ FunctionName: name = '' }) => name).find((name) =>
    name.startsWith(`${stackName}-Receiver`),
  );
  await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 }));
  const during = await partner.post(event);
  await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  const { status, contentType, body } = during;
  assert.deepEqual(
    { status, contentType, title: body.title },
    { status: 500, contentType: 'application/problem+json', title: 'Server error' },
  );
  assert.equal((await partner.post(event)).status, 200);
  const dynamodb = new DynamoDBClient(settings);
  const row = { TableName: outputs.ShopCacheTable, Key: { shop_id: { S: SHOP } } };
  await eventually(async () => (await dynamodb.send(new GetItemCommand(row))).Item);
}
