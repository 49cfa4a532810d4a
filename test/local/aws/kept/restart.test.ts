import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  DisableAlarmActionsCommand,
  PutMetricAlarmCommand,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { CreateDeliveryStreamCommand, FirehoseClient, PutRecordCommand } from '@aws-sdk/client-firehose';
import {
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { CreateQueueCommand, GetQueueUrlCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.ts';
import { KeptEndpoint } from './kept-endpoint.ts';

let endpoint: KeptEndpoint;

beforeEach(async () => {
  endpoint = await KeptEndpoint.start();
});

afterEach(() => endpoint[Symbol.asyncDispose]());

const putAlarm = (AlarmName: string) => endpoint.aws.putAlarm({ AlarmName });

const alarmsNow = async () => {
  const { MetricAlarms = [] } = await new CloudWatchClient(endpoint.settings).send(
    new DescribeAlarmsCommand(),
  );
  return MetricAlarms.map(({ AlarmName, StateValue, StateReason, ActionsEnabled, Threshold }) => {
    return [AlarmName, StateValue, StateReason, ActionsEnabled, Threshold];
  });
};

test('an alarm is in the state that it was set to, with its reason, as quiet and as patient', async () => {
  putAlarm('set');
  putAlarm('quiet');
  putAlarm('patient');
  const client = new CloudWatchClient(endpoint.settings);
  const set = { AlarmName: 'set', StateValue: 'ALARM', StateReason: 'paused: a test' } as const;
  await client.send(new SetAlarmStateCommand(set));
  await client.send(new DisableAlarmActionsCommand({ AlarmNames: ['quiet'] }));
  const patient = { AlarmName: 'patient', Threshold: 7, EvaluationPeriods: 1 };
  await client.send(
    new PutMetricAlarmCommand({ ...patient, ComparisonOperator: 'GreaterThanOrEqualToThreshold' }),
  );
  await endpoint.restart();
  putAlarm('set');
  putAlarm('quiet');
  putAlarm('patient');
  expect(await alarmsNow()).toEqual([
    ['set', 'ALARM', 'paused: a test', true, undefined],
    ['quiet', 'INSUFFICIENT_DATA', 'Unchecked: Initial alarm creation', false, undefined],
    ['patient', 'INSUFFICIENT_DATA', 'Unchecked: Initial alarm creation', true, 7],
  ]);
});

test('an event source that was turned off stays off, under its id, and never polls', async () => {
  const calls: string[] = [];
  const add = (name: string) =>
    endpoint.aws.addEventSourceMapping({
      eventSourceArn: `arn:aws:sqs:eu-central-1:000000000000:${name}`,
      functionArn: `arn:aws:lambda:eu-central-1:000000000000:function:${name}`,
      settings: {},
      disable: async () => {
        calls.push(`${name} off`);
      },
      enable: () => calls.push(`${name} on`),
    });
  const list = async () => {
    const { EventSourceMappings = [] } = await new LambdaClient(endpoint.settings).send(
      new ListEventSourceMappingsCommand(),
    );
    return EventSourceMappings.map(({ UUID, State }) => ({ UUID, State }));
  };
  add('one');
  add('other');
  const [one] = await list();
  await new LambdaClient(endpoint.settings).send(
    new UpdateEventSourceMappingCommand({ UUID: one?.UUID, Enabled: false }),
  );
  await eventually(async () => ((await list())[0]?.State === 'Disabled' ? true : undefined));
  const before = await list();
  calls.length = 0;
  await endpoint.restart();
  add('one');
  expect(calls).toEqual(['one off']);
  add('other');
  expect(calls).toEqual(['one off']);
  await eventually(async () => ((await list())[0]?.State === 'Disabled' ? true : undefined));
  expect(await list()).toEqual(before);
});

test('log lines are there in their order, and no more than in memory', async () => {
  const group = 'of a function';
  endpoint.aws.createLogGroup(group);
  for (let index = 0; index < 5_010; index += 1) endpoint.aws.writeLog(group, `line ${index}`);
  await endpoint.restart();
  endpoint.aws.createLogGroup(group);
  endpoint.aws.writeLog(group, 'a new line');
  const { events = [] } = await new CloudWatchLogsClient(endpoint.settings).send(
    new FilterLogEventsCommand({ logGroupName: group }),
  );
  expect(events.length).toBe(5_000);
  expect(events.slice(0, 2).map(({ message }) => message)).toEqual(['line 11', 'line 12']);
  expect(events.slice(-2).map(({ message }) => message)).toEqual(['line 5009', 'a new line']);
  expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length);
});

test('a secret has its versions, its stages and its ARN, and one that was deleted is gone', async () => {
  const client = new SecretsManagerClient(endpoint.settings);
  const { ARN } = await client.send(new CreateSecretCommand({ Name: 'webhook', SecretString: 'first' }));
  await client.send(new PutSecretValueCommand({ SecretId: 'webhook', SecretString: 'second' }));
  await client.send(new CreateSecretCommand({ Name: 'other', SecretString: 'x' }));
  await client.send(new DeleteSecretCommand({ SecretId: 'other', ForceDeleteWithoutRecovery: true }));
  await endpoint.restart();
  const after = new SecretsManagerClient(endpoint.settings);
  const valueAt = async (VersionStage: string) =>
    (await after.send(new GetSecretValueCommand({ SecretId: 'webhook', VersionStage }))).SecretString;
  expect(await valueAt('AWSCURRENT')).toBe('second');
  expect(await valueAt('AWSPREVIOUS')).toBe('first');
  await expect(after.send(new DescribeSecretCommand({ SecretId: 'webhook' }))).resolves.toMatchObject({
    ARN,
  });
  await expect(after.send(new DescribeSecretCommand({ SecretId: 'other' }))).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  });
});

test('records that Firehose could not deliver are delivered by a later run, once', async () => {
  const roleArn = 'arn:aws:iam::000000000000:role/of-a-stream';
  const prepare = async () => {
    const statement = { Effect: 'Allow', Action: 's3:PutObject', Resource: '*' } as const;
    endpoint.aws.addPrincipals([
      { name: 'Role', accessKeyId: 'role', arn: roleArn, statements: [statement] },
    ]);
    await new FirehoseClient(endpoint.settings).send(
      new CreateDeliveryStreamCommand({
        DeliveryStreamName: 'stream',
        ExtendedS3DestinationConfiguration: { RoleARN: roleArn, BucketARN: 'arn:aws:s3:::archive' },
      }),
    );
  };
  await prepare();
  await new FirehoseClient(endpoint.settings).send(
    new PutRecordCommand({ DeliveryStreamName: 'stream', Record: { Data: Buffer.from('a record\n') } }),
  );
  // There is no bucket yet.
  await eventually(async () => (endpoint.problems.length > 0 ? true : undefined));
  await endpoint.stop();
  expect(endpoint.problems.at(-1)).toBe(
    'Delivery stream stream: 1 records are kept, and not yet delivered to archive',
  );

  await endpoint.start();
  const s3 = () => new S3Client({ ...endpoint.settings, forcePathStyle: true });
  await s3().send(new CreateBucketCommand({ Bucket: 'archive' }));
  await prepare();
  const list = async () => (await s3().send(new ListObjectsV2Command({ Bucket: 'archive' }))).Contents;
  const [object] = await eventually(list);
  const { Body } = await s3().send(new GetObjectCommand({ Bucket: 'archive', Key: object?.Key }));
  expect(await Body?.transformToString()).toBe('a record\n');

  await endpoint.restart();
  await prepare();
  await endpoint.stop();
  await endpoint.start();
  expect(await list()).toHaveLength(1);
});

test('a queue has its address at the port that the endpoint has now', async () => {
  await new SQSClient(endpoint.settings).send(new CreateQueueCommand({ QueueName: 'queue' }));
  const before = endpoint.aws.url;
  await endpoint.restart();
  expect(endpoint.aws.url).not.toBe(before);
  const client = new SQSClient(endpoint.settings);
  const expected = `${endpoint.aws.url}/000000000000/queue`;
  expect(await client.send(new GetQueueUrlCommand({ QueueName: 'queue' }))).toMatchObject({
    QueueUrl: expected,
  });
  expect(await client.send(new ListQueuesCommand())).toMatchObject({ QueueUrls: [expected] });
});
