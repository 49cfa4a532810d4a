import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  DisableAlarmActionsCommand,
  PutMetricAlarmCommand,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import {
  CreateTableCommand,
  DeleteTableCommand,
  ListTablesCommand,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateDeliveryStreamCommand, PutRecordCommand } from '@aws-sdk/client-firehose';
import {
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
} from '@aws-sdk/client-secrets-manager';
import {
  CreateTopicCommand,
  ListSubscriptionsByTopicCommand,
  PublishCommand,
  SubscribeCommand,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { checkKeptState, FORMAT, openKeptState } from '../../../../local/aws/kept-state.ts';
import { eventually } from '../../../support/eventually.ts';
import { KeptEndpoint } from './kept-endpoint.ts';

describe('after a restart', () => {
  let endpoint: KeptEndpoint;
  beforeEach(async () => {
    endpoint = await KeptEndpoint.start();
  });
  afterEach(() => endpoint[Symbol.asyncDispose]());

  test('an alarm has the state, reason and threshold that were set, and is muted as before', async () => {
    const names = ['set', 'muted', 'patient'];
    for (const AlarmName of names) endpoint.aws.putAlarm({ AlarmName });
    const client = new CloudWatchClient(endpoint.settings);
    const set = { AlarmName: 'set', StateValue: 'ALARM', StateReason: 'paused: a test' } as const;
    await client.send(new SetAlarmStateCommand(set));
    await client.send(new DisableAlarmActionsCommand({ AlarmNames: ['muted'] }));
    const patient = { AlarmName: 'patient', Threshold: 7, EvaluationPeriods: 1 };
    await client.send(
      new PutMetricAlarmCommand({ ...patient, ComparisonOperator: 'GreaterThanOrEqualToThreshold' }),
    );
    await endpoint.restart();
    for (const AlarmName of names) endpoint.aws.putAlarm({ AlarmName });
    const described = await new CloudWatchClient(endpoint.settings).send(new DescribeAlarmsCommand());
    expect(described.MetricAlarms).toMatchObject([
      { ...set, ActionsEnabled: true },
      { AlarmName: 'muted', StateValue: 'INSUFFICIENT_DATA', ActionsEnabled: false },
      { AlarmName: 'patient', StateValue: 'INSUFFICIENT_DATA', ActionsEnabled: true, Threshold: 7 },
    ]);
  });

  test('an event source that was turned off stays off, with its id, and never polls', async () => {
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
      const listed = await new LambdaClient(endpoint.settings).send(new ListEventSourceMappingsCommand());
      return (listed.EventSourceMappings ?? []).map(({ UUID, State }) => ({ UUID, State }));
    };
    const firstIsDisabled = async () => ((await list())[0]?.State === 'Disabled' ? true : undefined);
    add('one');
    add('other');
    const UUID = (await list())[0]?.UUID;
    await new LambdaClient(endpoint.settings).send(
      new UpdateEventSourceMappingCommand({ UUID, Enabled: false }),
    );
    await eventually(firstIsDisabled);
    const before = await list();
    calls.length = 0;
    await endpoint.restart();
    add('one');
    add('other');
    expect(calls).toEqual(['one off']);
    await eventually(firstIsDisabled);
    expect(await list()).toEqual(before);
  });

  test('log lines are in order, and not more than in memory', async () => {
    const group = 'of a function';
    for (let index = 0; index < 5_010; index += 1) endpoint.aws.writeLog(group, `line ${index}`);
    await endpoint.restart();
    endpoint.aws.writeLog(group, 'a new line');
    const { events = [] } = await new CloudWatchLogsClient(endpoint.settings).send(
      new FilterLogEventsCommand({ logGroupName: group }),
    );
    const lines = events.map(({ message }) => message);
    expect(lines).toHaveLength(5_000);
    expect(lines.slice(0, 2)).toEqual(['line 11', 'line 12']);
    expect(lines.slice(-2)).toEqual(['line 5009', 'a new line']);
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length);
  });

  test('a secret has its versions, stages and ARN, and a deleted one is gone', async () => {
    const { secrets } = endpoint.clients;
    const { ARN } = await secrets.send(new CreateSecretCommand({ Name: 'webhook', SecretString: 'first' }));
    await secrets.send(new PutSecretValueCommand({ SecretId: 'webhook', SecretString: 'second' }));
    await secrets.send(new CreateSecretCommand({ Name: 'other', SecretString: 'x' }));
    await secrets.send(new DeleteSecretCommand({ SecretId: 'other', ForceDeleteWithoutRecovery: true }));
    await endpoint.restart();
    const get = (VersionStage: string) =>
      endpoint.clients.secrets.send(new GetSecretValueCommand({ SecretId: 'webhook', VersionStage }));
    expect(await get('AWSCURRENT')).toMatchObject({ ARN, SecretString: 'second' });
    expect(await get('AWSPREVIOUS')).toMatchObject({ ARN, SecretString: 'first' });
    const other = endpoint.clients.secrets.send(new DescribeSecretCommand({ SecretId: 'other' }));
    await expect(other).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  test('records that Firehose could not deliver are delivered once by a later run', async () => {
    const arn = 'arn:aws:iam::000000000000:role/of-a-stream';
    const prepare = async () => {
      const statements = [{ Effect: 'Allow' as const, Action: 's3:PutObject', Resource: '*' }];
      endpoint.aws.addPrincipals([{ name: 'Role', accessKeyId: 'role', arn, statements }]);
      await endpoint.clients.firehose.send(
        new CreateDeliveryStreamCommand({
          DeliveryStreamName: 'stream',
          ExtendedS3DestinationConfiguration: { RoleARN: arn, BucketARN: 'arn:aws:s3:::archive' },
        }),
      );
    };
    await prepare();
    const Record = { Data: Buffer.from('a record\n') };
    await endpoint.clients.firehose.send(new PutRecordCommand({ DeliveryStreamName: 'stream', Record }));
    // The bucket does not exist yet.
    await eventually(async () => (endpoint.problems.length > 0 ? true : undefined));
    await endpoint.stop();
    expect(endpoint.problems.at(-1)).toBe(
      'Delivery stream stream: 1 records are kept, and not yet delivered to archive',
    );

    await endpoint.start();
    const archive = { Bucket: 'archive' };
    await endpoint.clients.s3.send(new CreateBucketCommand(archive));
    await prepare();
    const list = async () => (await endpoint.clients.s3.send(new ListObjectsV2Command(archive))).Contents;
    const [object] = await eventually(list);
    const { Body } = await endpoint.clients.s3.send(new GetObjectCommand({ ...archive, Key: object?.Key }));
    expect(await Body?.transformToString()).toBe('a record\n');

    await endpoint.restart();
    await prepare();
    await endpoint.restart();
    expect(await list()).toHaveLength(1);
  });

  test('a queue has its address at the new port of the endpoint', async () => {
    await endpoint.clients.sqs.send(new CreateQueueCommand({ QueueName: 'queue' }));
    const before = endpoint.aws.url;
    await endpoint.restart();
    expect(endpoint.aws.url).not.toBe(before);
    const QueueUrl = `${endpoint.aws.url}/000000000000/queue`;
    const { sqs } = endpoint.clients;
    expect(await sqs.send(new GetQueueUrlCommand({ QueueName: 'queue' }))).toMatchObject({ QueueUrl });
    expect(await sqs.send(new ListQueuesCommand())).toMatchObject({ QueueUrls: [QueueUrl] });
  });

  test('an upload in parts continues, and is complete', async () => {
    const object = { Bucket: 'in-parts', Key: 'large' };
    /** The minimum size that S3 accepts for a part, except the last one. */
    const part = Buffer.alloc(5 * 1024 * 1024, 'a');
    await endpoint.clients.s3.send(new CreateBucketCommand({ Bucket: object.Bucket }));
    const { UploadId } = await endpoint.clients.s3.send(new CreateMultipartUploadCommand(object));
    const upload = (PartNumber: number, Body: Buffer) =>
      endpoint.clients.s3.send(new UploadPartCommand({ ...object, UploadId, PartNumber, Body }));
    const { ETag: first } = await upload(1, part);
    await endpoint.restart();
    const { ETag: second } = await upload(2, Buffer.from('the end'));
    const MultipartUpload = {
      Parts: [
        { PartNumber: 1, ETag: first },
        { PartNumber: 2, ETag: second },
      ],
    };
    await endpoint.clients.s3.send(
      new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload }),
    );
    await endpoint.restart();
    const { Body } = await endpoint.clients.s3.send(new GetObjectCommand(object));
    expect(await Body?.transformToString()).toBe(`${part}the end`);
  });

  test('a topic has its subscriptions, without ended ones', async () => {
    const { sqs, sns } = endpoint.clients;
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'subscribed' }));
    const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: 'topic' }));
    const subscribe = async (name: string) => {
      const Endpoint = `arn:aws:sqs:eu-central-1:000000000000:${name}`;
      const Attributes = { RawMessageDelivery: 'true' };
      return sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint, Attributes }));
    };
    const { SubscriptionArn } = await subscribe('subscribed');
    const ended = await subscribe('other');
    await sns.send(new UnsubscribeCommand({ SubscriptionArn: ended.SubscriptionArn }));
    await endpoint.restart();
    const listed = await endpoint.clients.sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
    expect(listed.Subscriptions).toMatchObject([{ SubscriptionArn }]);
    await endpoint.clients.sns.send(new PublishCommand({ TopicArn, Message: 'a message' }));
    await endpoint.restart();
    const received = await endpoint.clients.sqs.send(new ReceiveMessageCommand({ QueueUrl }));
    expect(received.Messages).toMatchObject([{ Body: 'a message' }]);
  });

  test('a deleted table stays deleted, and a new one with its name is empty', async () => {
    const TableName = 'made-twice';
    const create = () =>
      endpoint.clients.dynamodb.send(
        new CreateTableCommand({
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
          AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        }),
      );
    await create();
    await endpoint.clients.dynamodb.send(new PutItemCommand({ TableName, Item: { id: { S: 'a' } } }));
    await endpoint.clients.dynamodb.send(new DeleteTableCommand({ TableName }));
    await endpoint.restart();
    expect(await endpoint.clients.dynamodb.send(new ListTablesCommand())).toMatchObject({ TableNames: [] });
    await create();
    await endpoint.restart();
    expect(await endpoint.clients.dynamodb.send(new ScanCommand({ TableName }))).toMatchObject({ Items: [] });
  });

  test('a message is on its queue or on the dead-letter queue: one transaction moves it', async () => {
    const { folder, clients } = endpoint;
    const deadLetterTargetArn = 'arn:aws:sqs:eu-central-1:000000000000:dead';
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
    await clients.sqs.send(new CreateQueueCommand({ QueueName: 'dead' }));
    const { QueueUrl } = await clients.sqs.send(
      new CreateQueueCommand({ QueueName: 'work', Attributes: { RedrivePolicy } }),
    );
    await clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'of a test' }));
    await endpoint.stop();

    const places: unknown[] = [];
    const look = () => {
      const reader = new DatabaseSync(join(folder, 'fauxqs.db'), { readOnly: true });
      places.push(...reader.prepare('SELECT queue_name FROM sqs_messages').all());
      reader.close();
    };
    const kept = await openKeptState(folder, console.error);
    const { sqsStore } = kept.stores;
    const receive = () =>
      sqsStore.getQueueByName('work')?.dequeue(1, 0, (arn) => sqsStore.getQueueByArn(arn));
    receive();
    // fauxqs calls its spy between the two steps of moving a message.
    Object.assign(sqsStore.getQueueByName('dead') ?? {}, { spy: { addMessage: look } });
    receive();
    kept.close();
    look();
    expect(places).toEqual([{ queue_name: 'work' }, { queue_name: 'dead' }]);
  });
});

describe('a state folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-kept-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const file = () => join(folder, 'fauxqs.db');
  const open = () => openKeptState(folder, console.error);

  async function openAndClose(): Promise<void> {
    (await open()).close();
  }

  function change(statement: string): void {
    const database = new DatabaseSync(file());
    database.exec(statement);
    database.close();
  }

  test('is private to its owner', async () => {
    await chmod(folder, 0o755);
    await openAndClose();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test('that another stack uses is refused until that one ends', async () => {
    const other = await open();
    const line = `Another stack uses ${folder}: stop it first, or start this one without --keep`;
    await expect(open()).rejects.toThrow(line);
    expect(() => checkKeptState(folder)).toThrow(line);
    other.close();
    await openAndClose();
  });

  test('with a file that is not a database is refused, and not changed', async () => {
    await writeFile(file(), 'x'.repeat(10_000));
    const line = `The stored state in ${folder} is damaged: file is not a database. Delete the folder to start empty, or start without --keep`;
    await expect(open()).rejects.toThrow(line);
    expect(() => checkKeptState(folder)).toThrow(line);
    expect(await readFile(file(), 'utf8')).toBe('x'.repeat(10_000));
  });

  test('with a damaged database is refused', async () => {
    await openAndClose();
    const bytes = await readFile(file());
    bytes.fill(0x5a, 4_096, bytes.length);
    await writeFile(file(), bytes);
    await expect(open()).rejects.toThrow(`The stored state in ${folder} is damaged: `);
  });

  test('with an invalid value is refused, without showing the value', async () => {
    await openAndClose();
    change(`INSERT INTO kept_values VALUES ('secret', 'a', '{"of": "nobody''s business"}')`);
    const kept = await open();
    const secrets = kept.collection('secret', z.object({ name: z.string() }));
    const line = `The stored state in ${folder} is damaged. Delete the folder to start empty, or start without --keep`;
    expect(() => secrets.entries()).toThrow(new Error(line));
    kept.close();
  });

  test.each([FORMAT - 1, FORMAT + 1])(
    'of the format %s is refused, and both formats are named',
    async (format) => {
      await openAndClose();
      change(`PRAGMA user_version = ${format}`);
      await expect(open()).rejects.toThrow(
        `${folder} has format ${format}, and this version of the project reads ${FORMAT}: delete the folder to start empty, or start without --keep`,
      );
    },
  );

  test('that cannot be created is refused', async () => {
    await writeFile(file(), '');
    const place = join(file(), 'kept');
    await expect(openKeptState(place, console.error)).rejects.toThrow(`${place} cannot be written: ENOTDIR`);
  });

  test('of a start that was killed before it created anything is used', async () => {
    await writeFile(file(), '');
    await openAndClose();
  });

  /** Hashes of the tables for each value of FORMAT. */
  const TABLES = new Map([[2, '6ba815bf4b90005eb9b74a83132e570714b12338c38431b7b2ba761cacefce00']]);

  test('has another format version if a table changes, also one of fauxqs', async () => {
    await openAndClose();
    const database = new DatabaseSync(file());
    const rows = database.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name').all();
    database.close();
    const text = rows.map(({ sql }) => String(sql).replaceAll(/\s+/g, ' ')).join('\n');
    expect(createHash('sha256').update(text).digest('hex')).toBe(TABLES.get(FORMAT));
  });
});
