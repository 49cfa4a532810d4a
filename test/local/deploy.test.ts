import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListTablesCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { DescribeDeliveryStreamCommand } from '@aws-sdk/client-firehose';
import { GetBucketLifecycleConfigurationCommand } from '@aws-sdk/client-s3';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { type AwsEndpointOptions, startAwsEndpoint } from '../../local/aws/endpoint.ts';
import { openKeptState } from '../../local/aws/kept-state.ts';
import { ACCOUNT_ID } from '../../local/aws/services.ts';
import { type ClientSettings, clientSettings, REGION } from '../../local/client-settings.ts';
import { deploy } from '../../local/deploy.ts';
import { assertKnownSecretNotAccepted, rotateSecret } from '../../local/kept-secret.ts';
import { readCloudAssembly, type Template } from '../../local/template/cloud-assembly.ts';
import { Resources } from '../../local/template/resources.ts';
import { startTestStack, testAssembly } from '../support/test-stack.ts';
import { KeptEndpoint } from './aws/kept/kept-endpoint.ts';

type TemplateResources = Template['Resources'];

const queue = { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 60, DelaySeconds: 5 } };
const table = {
  Type: 'AWS::DynamoDB::Table',
  Properties: {
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [
      { AttributeName: 'shop', AttributeType: 'S' },
      { AttributeName: 'id', AttributeType: 'S' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-shop',
        KeySchema: [{ AttributeName: 'shop', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name', 'at'] },
      },
    ],
    TimeToLiveSpecification: { AttributeName: 'ends', Enabled: true },
  },
};
const bucket = (days: number) => ({
  Type: 'AWS::S3::Bucket',
  Properties: {
    LifecycleConfiguration: {
      Rules: [
        {
          Status: 'Enabled',
          ExpirationInDays: days,
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
        },
      ],
    },
  },
});
const secret = { Type: 'AWS::SecretsManager::Secret', Properties: {} };
const topic = { Type: 'AWS::SNS::Topic', Properties: {} };
const stream = (CompressionFormat: string) => ({
  Type: 'AWS::KinesisFirehose::DeliveryStream',
  Properties: {
    DeliveryStreamType: 'DirectPut',
    ExtendedS3DestinationConfiguration: {
      RoleARN: 'arn:aws:iam::000000000000:role/stream',
      BucketARN: 'arn:aws:s3:::stack-bucket',
      CompressionFormat,
    },
  },
});
const everything = { Queue: queue, Table: table, Bucket: bucket(1), Secret: secret, Topic: topic };

let endpoint: KeptEndpoint;

beforeEach(async () => {
  endpoint = await KeptEndpoint.start();
});

afterEach(() => endpoint[Symbol.asyncDispose]());

/** Restarts the endpoint with a secret, and deploys a template to it. @returns remaining resources */
async function start(template: TemplateResources, secret = 'secret'): Promise<readonly string[]> {
  await endpoint.restart();
  await rotateSecret(resourcesOf(template), endpoint.settings, secret);
  return deploy(resourcesOf(template), endpoint.aws, secret);
}

function resourcesOf(template: TemplateResources): Resources {
  const stack = { name: 'Stack', template: { Resources: template, Outputs: {} }, assetFolder: () => '' };
  const { region, endpoint: awsUrl } = endpoint.settings;
  return new Resources(stack, { region, accountId: ACCOUNT_ID, awsUrl, apiUrl: '' });
}

const attributesOf = async (name: string) => {
  const QueueUrl = `${endpoint.aws.url}/000000000000/Stack-${name}`;
  const { Attributes } = await endpoint.clients.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
  );
  return Attributes;
};

test('everything is created once, and found by a later start', async () => {
  expect(await start(everything)).toEqual([]);
  expect(await start(everything)).toEqual([]);
});

test('a failed creation leaves what was created for the next try', async () => {
  const wrong = { ...table, Properties: { ...table.Properties, AttributeDefinitions: [] } };
  await expect(
    deploy(resourcesOf({ ...everything, Added: wrong }), endpoint.aws, 'secret'),
  ).rejects.toThrow();
  await deploy(resourcesOf({ ...everything, Added: table }), endpoint.aws, 'secret');
  const { TableNames } = await endpoint.clients.dynamodb.send(new ListTablesCommand({}));
  expect(TableNames).toEqual(['Stack-Added', 'Stack-Table']);
});

test('without a restart a delivery stream stays, and a rotated secret keeps its value', async () => {
  await start({ ...everything, Stream: stream('GZIP') });
  const { secrets, firehose } = endpoint.clients;
  await secrets.send(new PutSecretValueCommand({ SecretId: 'Stack-Secret', SecretString: 'rotated' }));
  await deploy(resourcesOf({ ...everything, Stream: stream('UNCOMPRESSED') }), endpoint.aws, 'secret');
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: 'Stack-Secret' }));
  expect(SecretString).toBe('rotated');
  const { DeliveryStreamDescription } = await firehose.send(
    new DescribeDeliveryStreamCommand({ DeliveryStreamName: 'Stack-Stream' }),
  );
  expect(DeliveryStreamDescription?.Destinations).toMatchObject([
    { ExtendedS3DestinationDescription: { CompressionFormat: 'GZIP' } },
  ]);
});

test('a queue gets its settings from the template, or the defaults; messages stay', async () => {
  const dead = {
    deadLetterTargetArn: 'arn:aws:sqs:eu-central-1:000000000000:Stack-Dead',
    maxReceiveCount: 3,
  };
  await start({ Dead: queue, Queue: { ...queue, Properties: { ...queue.Properties, RedrivePolicy: dead } } });
  const QueueUrl = `${endpoint.aws.url}/000000000000/Stack-Queue`;
  await endpoint.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a', DelaySeconds: 0 }));
  await start({ Dead: queue, Queue: { ...queue, Properties: { VisibilityTimeout: 90 } } });
  const attributes = await attributesOf('Queue');
  expect(attributes).toMatchObject({
    VisibilityTimeout: '90',
    DelaySeconds: '0',
    ApproximateNumberOfMessages: '1',
  });
  expect(attributes).not.toHaveProperty('RedrivePolicy');
});

test('resources that left the template stay and are named; new ones are created', async () => {
  await start(everything);
  expect(await start({ Another: queue })).toEqual([
    'queue Stack-Queue',
    'topic Stack-Topic',
    'bucket stack-bucket',
    'table Stack-Table',
    'secret Stack-Secret',
  ]);
  expect(await attributesOf('Queue')).toMatchObject({ VisibilityTimeout: '60' });
  expect(await attributesOf('Another')).toMatchObject({ VisibilityTimeout: '60' });
});

test('a bucket gets the lifecycle of the template', async () => {
  await start({ Bucket: bucket(1) });
  await start({ Bucket: bucket(2) });
  const client = endpoint.clients.s3;
  const { Rules } = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: 'stack-bucket' }));
  expect(Rules).toMatchObject([
    { Expiration: { Days: 2 }, AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
  ]);
  await start({ Bucket: { Type: 'AWS::S3::Bucket', Properties: {} } });
  const after = endpoint.clients.s3;
  await expect(
    after.send(new GetBucketLifecycleConfigurationCommand({ Bucket: 'stack-bucket' })),
  ).rejects.toMatchObject({ name: 'NoSuchLifecycleConfiguration' });
});

test('rows stay if the keys are equal, in any order of the template', async () => {
  await start({ Table: table });
  const row = { id: { S: 'a' } };
  await endpoint.clients.dynamodb.send(new PutItemCommand({ TableName: 'Stack-Table', Item: row }));
  const { AttributeDefinitions } = table.Properties;
  const Properties = { ...table.Properties, AttributeDefinitions: AttributeDefinitions.toReversed() };
  await start({ Table: { ...table, Properties } });
  const { Items } = await endpoint.clients.dynamodb.send(new ScanCommand({ TableName: 'Stack-Table' }));
  expect(Items).toEqual([row]);
});

test.each([
  ['another key', { KeySchema: [{ AttributeName: 'shop', KeyType: 'HASH' }] }],
  [
    'no index',
    {
      GlobalSecondaryIndexes: undefined,
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    },
  ],
])('a table with %s in the template is refused, in one line', async (_what, change) => {
  await start({ Table: table });
  await expect(
    start({ Table: { ...table, Properties: { ...table.Properties, ...change } } }),
  ).rejects.toThrow(
    'Table Stack-Table has other keys or indexes in the template than the existing table. To start empty, start without --keep, or delete the folder of --keep',
  );
});

test('a new secret is the current one, and the stored one is the previous one', async () => {
  await start({ Secret: secret }, 'kept');
  await start({ Secret: secret }, 'another');
  const client = endpoint.clients.secrets;
  const at = async (VersionStage: string) =>
    (await client.send(new GetSecretValueCommand({ SecretId: 'Stack-Secret', VersionStage }))).SecretString;
  expect([await at('AWSCURRENT'), await at('AWSPREVIOUS')]).toEqual(['another', 'kept']);
});

test('a secret that was marked for deletion is created again', async () => {
  await start({ Secret: secret });
  await endpoint.clients.secrets.send(new DeleteSecretCommand({ SecretId: 'Stack-Secret' }));
  await start({ Secret: secret }, 'new');
  const { SecretString } = await endpoint.clients.secrets.send(
    new GetSecretValueCommand({ SecretId: 'Stack-Secret' }),
  );
  expect(SecretString).toBe('new');
});

describe('a start with a public host', () => {
  const GRACE_MILLISECONDS = 24 * 60 * 60 * 1000;

  interface Given {
    readonly resources: Resources;
    readonly settings: ClientSettings;
    readonly client: SecretsManagerClient;
    /** Name of the secret. */
    readonly name: string;
  }

  /** Gives an AWS endpoint the stack's secret, then others, like starts with `--keep` and another `--secret`. */
  async function withSecrets<Result>(
    [first, ...others]: readonly string[],
    use: (given: Given) => Promise<Result>,
    kept?: AwsEndpointOptions['kept'],
  ): Promise<Result> {
    const aws = await startAwsEndpoint({ port: 0, region: REGION, kept });
    const settings = clientSettings(aws.url, 'operator');
    const client = new SecretsManagerClient(settings);
    try {
      const place = { region: REGION, accountId: ACCOUNT_ID, awsUrl: aws.url, apiUrl: '' };
      const resources = new Resources(readCloudAssembly(testAssembly()), place);
      const name = resources.ofType('AWS::SecretsManager::Secret')[0]?.name ?? '';
      if (first !== undefined)
        await client.send(new CreateSecretCommand({ Name: name, SecretString: first }));
      for (const SecretString of others) {
        await client.send(new PutSecretValueCommand({ SecretId: name, SecretString }));
      }
      return await use({ resources, settings, client, name });
    } finally {
      client.destroy();
      await aws.close();
    }
  }

  /** Result of a start with a public host, some time after the last rotation. */
  const startedAfter = (secrets: readonly string[], secret: string, milliseconds = 0) =>
    withSecrets(secrets, ({ resources, settings }) =>
      assertKnownSecretNotAccepted(resources, settings, secret, Date.now() + milliseconds).then(
        () => 'let in',
        (error: Error) => `${error.name}: ${error.message}`,
      ),
    );

  const REFUSED = /^UnusableStateError: local-webhook-secret .*Delete/;

  test.each([
    { kept: [LOCAL_SECRET], secret: 'own' },
    { kept: [`${LOCAL_SECRET}\n`], secret: 'own' },
    { kept: [JSON.stringify({ WEBHOOK_SECRET: LOCAL_SECRET })], secret: 'own' },
    { kept: [LOCAL_SECRET, 'own'], secret: 'own' },
  ])(
    'is refused with the secret $secret while the known one is accepted: $kept',
    async ({ kept, secret }) => {
      expect(await startedAfter(kept, secret)).toMatch(REFUSED);
    },
  );

  test.each([
    { kept: [], secret: 'own' },
    { kept: ['own'], secret: 'own' },
    { kept: ['own'], secret: 'newer' },
    { kept: [LOCAL_SECRET, 'own', 'newer'], secret: 'newer' },
    { kept: [LOCAL_SECRET, 'own'], secret: 'newer' },
  ])(
    'succeeds with the secret $secret if the known one is no longer accepted: $kept',
    async ({ kept, secret }) => {
      expect(await startedAfter(kept, secret)).toBe('let in');
    },
  );

  test('succeeds only after the grace period of the known secret', async () => {
    const kept = [LOCAL_SECRET, 'own'];
    expect(await startedAfter(kept, 'own', GRACE_MILLISECONDS - 60_000)).toMatch(REFUSED);
    expect(await startedAfter(kept, 'own', GRACE_MILLISECONDS + 1_000)).toBe('let in');
  });

  test('succeeds if the kept secret is marked for deletion', async () => {
    const asserted = withSecrets([LOCAL_SECRET], async ({ resources, settings, client, name }) => {
      await client.send(new DeleteSecretCommand({ SecretId: name }));
      await assertKnownSecretNotAccepted(resources, settings, 'own');
    });
    await expect(asserted).resolves.toBeUndefined();
  });

  test('that is refused does not change the stored state: the next one is refused, too', async () => {
    const keep = await mkdtemp(join(tmpdir(), 'partner-webhooks-kept-'));
    try {
      const kept = await openKeptState(keep, console.error);
      await withSecrets([LOCAL_SECRET], async () => {}, kept);
      kept.close();
      for (const secret of ['own', 'third']) {
        await expect(startTestStack({ keep, publicHosts: ['abc.example'], secret })).rejects.toThrow(
          'would still be accepted',
        );
      }
    } finally {
      await rm(keep, { recursive: true, force: true });
    }
  });
});
