import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AwsEndpoint, startAwsEndpoint } from '../aws/endpoint.ts';
import { arnOf } from '../aws/service-forms.ts';
import { awsCaller } from '../aws-caller.ts';
import { deploy } from '../deploy.ts';
import type { StackTemplate } from '../template/cloud-assembly.ts';
import { Resources } from '../template/resources.ts';
import { send, signedFor } from './support.ts';

let aws: AwsEndpoint;
beforeAll(async () => {
  aws = await startAwsEndpoint({ port: 0 });
});
afterAll(() => aws.close());

const deployed = (template: StackTemplate['Resources']) => {
  const stack = { name: 'Stack', template: { Resources: template, Outputs: {} }, assetFolder: () => '' };
  return deploy(new Resources(stack, { awsUrl: aws.url, apiUrl: '' }), aws, 'the secret');
};

test('resources have the settings of the template', async () => {
  const RedrivePolicy = { deadLetterTargetArn: arnOf('sqs', 'Stack-Dead'), maxReceiveCount: 3 };
  const Abort = { DaysAfterInitiation: 1 };
  const rule = { Status: 'Enabled', ExpirationInDays: 2, AbortIncompleteMultipartUpload: Abort };
  await deployed({
    Dead: {
      Type: 'AWS::SQS::Queue',
      Properties: { VisibilityTimeout: 60, DelaySeconds: 5, QueueName: 'no' },
    },
    Queue: { Type: 'AWS::SQS::Queue', Properties: { RedrivePolicy } },
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
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    },
    Bucket: { Type: 'AWS::S3::Bucket', Properties: { LifecycleConfiguration: { Rules: [rule] } } },
    Secret: { Type: 'AWS::SecretsManager::Secret' },
  });
  const { json } = awsCaller(aws.url, 'operator');

  const attributesOf = async (name: string) => {
    const QueueUrl = `${aws.url}/000000000000/Stack-${name}`;
    return (await json('sqs', 'GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] })).Attributes;
  };
  expect(await attributesOf('Dead')).toMatchObject({ VisibilityTimeout: '60', DelaySeconds: '5' });
  expect(await attributesOf('Queue')).toMatchObject({
    VisibilityTimeout: '30',
    RedrivePolicy: JSON.stringify(RedrivePolicy),
  });

  const TableName = 'Stack-Table';
  expect(await json('dynamodb', 'DescribeTable', { TableName })).toMatchObject({
    Table: { GlobalSecondaryIndexes: [{ IndexName: 'by-shop' }] },
  });

  const headers = { authorization: signedFor('s3') };
  const lifecycle = await send(aws, { method: 'GET', path: '/stack-bucket?lifecycle', headers });
  expect(lifecycle.body.toString()).toMatch(
    /<Days>2<.*<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</s,
  );
  expect(await json('secretsmanager', 'GetSecretValue', { SecretId: 'Stack-Secret' })).toMatchObject({
    SecretString: 'the secret',
  });
});

const keyed = { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions: [] };
test.each<[what: string, type: string, Properties: Record<string, unknown>]>([
  ['A table without its key', 'DynamoDB::Table', keyed],
  [
    'A delivery stream of another source',
    'KinesisFirehose::DeliveryStream',
    { DeliveryStreamType: 'KinesisStreamAsSource' },
  ],
])('%s is an error', async (_what, type, Properties) => {
  await expect(deployed({ Culprit: { Type: `AWS::${type}`, Properties } })).rejects.toThrow(/^Create/);
});
