import { DescribeTableCommand, DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DescribeDeliveryStreamCommand, FirehoseClient } from '@aws-sdk/client-firehose';
import { GetBucketLifecycleConfigurationCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type AwsEndpoint, startAwsEndpoint } from '../aws/endpoint.ts';
import { ACCOUNT_ID } from '../aws/services.ts';
import { clientSettings, REGION } from '../client-settings.ts';
import { deploy } from '../deploy.ts';
import type { StackTemplate } from '../template/cloud-assembly.ts';
import { Resources } from '../template/resources.ts';

let aws: AwsEndpoint;

beforeEach(async () => {
  aws = await startAwsEndpoint({ port: 0 });
});

afterEach(() => aws.close());

async function deployed(template: StackTemplate['Resources']) {
  const stack = { name: 'Stack', template: { Resources: template, Outputs: {} }, assetFolder: () => '' };
  const location = { awsUrl: aws.url, apiUrl: '' };
  await deploy(new Resources(stack, location), aws, 'the secret');
  return clientSettings(aws.url, 'operator');
}

test('a queue has the settings of the template, and no others', async () => {
  const deadLetterTargetArn = `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:Stack-Dead`;
  const RedrivePolicy = { deadLetterTargetArn, maxReceiveCount: 3 };
  const settings = await deployed({
    Dead: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 60, DelaySeconds: 5 } },
    Queue: { Type: 'AWS::SQS::Queue', Properties: { RedrivePolicy } },
  });
  const attributesOf = async (name: string) => {
    const QueueUrl = `${aws.url}/${ACCOUNT_ID}/Stack-${name}`;
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
    return (await new SQSClient(settings).send(command)).Attributes;
  };
  expect(await attributesOf('Dead')).toMatchObject({ VisibilityTimeout: '60', DelaySeconds: '5' });
  expect(await attributesOf('Queue')).toMatchObject({
    VisibilityTimeout: '30',
    RedrivePolicy: JSON.stringify(RedrivePolicy),
  });
});

test('a table has the index and the expiry attribute of the template', async () => {
  const settings = await deployed({
    Table: {
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
    },
  });
  const client = new DynamoDBClient(settings);
  const TableName = 'Stack-Table';
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  expect(Table?.GlobalSecondaryIndexes).toMatchObject([{ IndexName: 'by-shop' }]);
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  expect(TimeToLiveDescription).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'ends' });
});

test('a bucket has the lifecycle of the template', async () => {
  const rule = { ExpirationInDays: 2, AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } };
  const settings = await deployed({
    Bucket: {
      Type: 'AWS::S3::Bucket',
      Properties: { LifecycleConfiguration: { Rules: [{ Status: 'Enabled', ...rule }] } },
    },
  });
  const command = new GetBucketLifecycleConfigurationCommand({ Bucket: 'stack-bucket' });
  const { Rules } = await new S3Client({ ...settings, forcePathStyle: true }).send(command);
  expect(Rules).toMatchObject([
    { Expiration: { Days: 2 }, AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
  ]);
});

test('a delivery stream has the destination of the template, and a secret the value of the start', async () => {
  const settings = await deployed({
    Secret: { Type: 'AWS::SecretsManager::Secret', Properties: {} },
    Stream: {
      Type: 'AWS::KinesisFirehose::DeliveryStream',
      Properties: {
        DeliveryStreamType: 'DirectPut',
        ExtendedS3DestinationConfiguration: {
          RoleARN: 'arn:aws:iam::000000000000:role/stream',
          BucketARN: 'arn:aws:s3:::stack-bucket',
          CompressionFormat: 'GZIP',
        },
      },
    },
  });
  const secret = new GetSecretValueCommand({ SecretId: 'Stack-Secret' });
  expect((await new SecretsManagerClient(settings).send(secret)).SecretString).toBe('the secret');
  const stream = new DescribeDeliveryStreamCommand({ DeliveryStreamName: 'Stack-Stream' });
  const { DeliveryStreamDescription } = await new FirehoseClient(settings).send(stream);
  expect(DeliveryStreamDescription?.Destinations).toMatchObject([
    { ExtendedS3DestinationDescription: { CompressionFormat: 'GZIP' } },
  ]);
});

test('a table that cannot be created is an error', async () => {
  const KeySchema = [{ AttributeName: 'id', KeyType: 'HASH' }];
  const Properties = { KeySchema, AttributeDefinitions: [] };
  await expect(deployed({ Table: { Type: 'AWS::DynamoDB::Table', Properties } })).rejects.toThrow();
});
