import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetBucketLifecycleConfigurationCommand } from '@aws-sdk/client-s3';
import { DeleteSecretCommand, GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Adopted, adopt } from '../../local/adopt.ts';
import { deploy } from '../../local/deploy.ts';
import { ACCOUNT_ID } from '../../local/place.ts';
import type { Template } from '../../local/template/cloud-assembly.ts';
import { Resources } from '../../local/template/resources.ts';
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
  Properties: { LifecycleConfiguration: { Rules: [{ Status: 'Enabled', ExpirationInDays: days }] } },
});
const secret = { Type: 'AWS::SecretsManager::Secret', Properties: {} };
const topic = { Type: 'AWS::SNS::Topic', Properties: {} };
const everything = { Queue: queue, Table: table, Bucket: bucket(1), Secret: secret, Topic: topic };

let endpoint: KeptEndpoint;

beforeEach(async () => {
  endpoint = await KeptEndpoint.start();
});

afterEach(() => endpoint[Symbol.asyncDispose]());

/** Restarts the endpoint, and deploys a template to it. */
async function start(template: TemplateResources, value = 'secret'): Promise<Adopted> {
  await endpoint.restart();
  const { settings } = endpoint;
  const stack = { name: 'Stack', template: { Resources: template, Outputs: {} }, assetFolder: () => '' };
  const place = {
    region: settings.region,
    accountId: ACCOUNT_ID,
    awsUrl: settings.endpoint,
    apiUrl: '',
  } as const;
  const adopted = await adopt(new Resources(stack, place), settings, value);
  await deploy(new Resources(stack, place), settings, { secret: value, existing: adopted.logicalIds });
  return adopted;
}

const attributesOf = async (name: string) => {
  const QueueUrl = `${endpoint.aws.url}/000000000000/Stack-${name}`;
  const { Attributes } = await endpoint.clients.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
  );
  return Attributes;
};

test('the first time there is nothing to adopt, and then all of it, with nothing to say', async () => {
  expect(await start(everything)).toEqual({ logicalIds: new Set(), leftOver: [], isSecretNew: false });
  expect(await start(everything)).toEqual({
    logicalIds: new Set(Object.keys(everything)),
    leftOver: [],
    isSecretNew: false,
  });
});

test('a queue gets what the template says now, and its default where that says nothing; messages stay', async () => {
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

test('what is new in the template is made beside what was kept', async () => {
  await start({ Queue: queue });
  const { logicalIds } = await start({ Queue: queue, Another: queue, Table: table });
  expect(logicalIds).toEqual(new Set(['Queue']));
  expect(await attributesOf('Another')).toMatchObject({ VisibilityTimeout: '60' });
});

test('what is gone from the template stays, and is named', async () => {
  await start(everything);
  const { leftOver } = await start({ Another: queue });
  expect(leftOver).toEqual([
    'queue Stack-Queue',
    'topic Stack-Topic',
    'bucket stack-bucket',
    'table Stack-Table',
    'secret Stack-Secret',
  ]);
  expect(await attributesOf('Queue')).toMatchObject({ VisibilityTimeout: '60' });
});

test('a bucket gets the lifecycle of the template', async () => {
  await start({ Bucket: bucket(1) });
  await start({ Bucket: bucket(2) });
  const client = endpoint.clients.s3;
  const { Rules } = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: 'stack-bucket' }));
  expect(Rules).toMatchObject([{ Expiration: { Days: 2 } }]);
  await start({ Bucket: { Type: 'AWS::S3::Bucket', Properties: {} } });
  const after = endpoint.clients.s3;
  await expect(
    after.send(new GetBucketLifecycleConfigurationCommand({ Bucket: 'stack-bucket' })),
  ).rejects.toMatchObject({ name: 'NoSuchLifecycleConfiguration' });
});

test('rows stay where the keys are the same, in whatever order the template has them', async () => {
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
    'Table Stack-Table has other keys or indexes in the template than in what is kept: delete the folder to begin empty, or start without --keep',
  );
});

test('another secret is the current one, and the one that was kept is the previous one', async () => {
  await start({ Secret: secret }, 'kept');
  expect((await start({ Secret: secret }, 'another')).isSecretNew).toBe(true);
  const client = endpoint.clients.secrets;
  const at = async (VersionStage: string) =>
    (await client.send(new GetSecretValueCommand({ SecretId: 'Stack-Secret', VersionStage }))).SecretString;
  expect([await at('AWSCURRENT'), await at('AWSPREVIOUS')]).toEqual(['another', 'kept']);
});

test('a secret that was marked for deletion is made anew', async () => {
  await start({ Secret: secret });
  await endpoint.clients.secrets.send(new DeleteSecretCommand({ SecretId: 'Stack-Secret' }));
  await start({ Secret: secret }, 'new');
  const { SecretString } = await endpoint.clients.secrets.send(
    new GetSecretValueCommand({ SecretId: 'Stack-Secret' }),
  );
  expect(SecretString).toBe('new');
});
