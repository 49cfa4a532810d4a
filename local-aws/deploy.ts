import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { CreateDeliveryStreamCommand, FirehoseClient } from '@aws-sdk/client-firehose';
import {
  CreateBucketCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { AwsEndpoint } from './aws/endpoint.ts';
import { accessKeyOf, clientSettings } from './client-settings.ts';
import { type DeployedResource, type Resources, rolePolicies } from './template/resources.ts';

/**
 * Creates the resources of a template at the AWS endpoint.
 * @param secret value of each secret
 * @throws Error if a resource cannot be created
 */
export async function deploy(
  resources: Resources,
  aws: Pick<AwsEndpoint, 'url' | 'putAlarm' | 'addPrincipals' | 'addStack'>,
  secret: string,
): Promise<void> {
  const settings = clientSettings(aws.url, 'operator');
  const secrets = new SecretsManagerClient(settings);
  const sqs = new SQSClient(settings);
  const sns = new SNSClient(settings);
  const dynamodb = new DynamoDBClient(settings);
  const s3 = new S3Client({ ...settings, forcePathStyle: true });
  const firehose = new FirehoseClient(settings);
  try {
    await Promise.all([
      ...resources.ofType('AWS::SQS::Queue').map((queue) => createQueue(sqs, queue)),
      ...resources
        .ofType('AWS::SNS::Topic')
        .map(({ name }) => sns.send(new CreateTopicCommand({ Name: name }))),
      ...resources.ofType('AWS::S3::Bucket').map((bucket) => createBucket(s3, bucket)),
      ...resources.ofType('AWS::DynamoDB::Table').map((table) => createTable(dynamodb, table)),
      ...resources
        .ofType('AWS::SecretsManager::Secret')
        .map(async ({ logicalId, name, properties: { Description } }) => {
          const command = new CreateSecretCommand({ Name: name, SecretString: secret, Description });
          resources.setSecretArn(logicalId, (await secrets.send(command)).ARN ?? '');
        }),
    ]);
    await Promise.all([
      ...resources.ofType('AWS::SNS::Subscription').map((one) => subscribe(sns, one)),
      ...resources
        .ofType('AWS::KinesisFirehose::DeliveryStream')
        .map((one) => createDeliveryStream(firehose, one)),
    ]);
    // The local stack has no metrics, so an alarm keeps the state that a command sets.
    for (const { name, properties } of resources.ofType('AWS::CloudWatch::Alarm')) {
      aws.putAlarm({ AlarmName: name, ...properties });
    }
    aws.addStack(resources.running());
    aws.addPrincipals(
      rolePolicies(resources).map(({ arn, logicalId, statements }) => ({
        name: logicalId,
        arn,
        accessKeyId: accessKeyOf(arn),
        statements,
      })),
    );
  } finally {
    for (const client of [secrets, sqs, sns, dynamodb, s3, firehose]) client.destroy();
  }
}

async function createQueue(
  client: SQSClient,
  { name, properties: { RedrivePolicy, ...plain } }: DeployedResource<'AWS::SQS::Queue'>,
): Promise<void> {
  const Attributes = {
    ...Object.fromEntries(Object.entries(plain).map(([attribute, value]) => [attribute, String(value)])),
    ...(RedrivePolicy && { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
  };
  await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));
}

/**
 * Subscribes queues only: other subscribers, such as email addresses, must not be notified by a local stack.
 */
async function subscribe(
  client: SNSClient,
  { properties }: DeployedResource<'AWS::SNS::Subscription'>,
): Promise<void> {
  const { Protocol, TopicArn, Endpoint, FilterPolicy, FilterPolicyScope, RawMessageDelivery } = properties;
  if (Protocol !== 'sqs') return;
  await client.send(
    new SubscribeCommand({
      TopicArn,
      Protocol,
      Endpoint,
      Attributes: {
        ...(FilterPolicy && { FilterPolicy: JSON.stringify(FilterPolicy) }),
        ...(FilterPolicyScope && { FilterPolicyScope }),
        ...(RawMessageDelivery && { RawMessageDelivery: 'true' }),
      },
    }),
  );
}

/** Creates a bucket. Its lifecycle rules can be read, but no object expires while a local stack runs. */
async function createBucket(
  client: S3Client,
  { name, properties: { LifecycleConfiguration } }: DeployedResource<'AWS::S3::Bucket'>,
): Promise<void> {
  await client.send(new CreateBucketCommand({ Bucket: name }));
  if (LifecycleConfiguration === undefined) return;
  const Rules = LifecycleConfiguration.Rules.map(
    ({ Id, Status, Prefix = '', ExpirationInDays, AbortIncompleteMultipartUpload }): LifecycleRule => ({
      ID: Id,
      Status,
      Filter: { Prefix },
      ...(ExpirationInDays !== undefined && { Expiration: { Days: ExpirationInDays } }),
      AbortIncompleteMultipartUpload,
    }),
  );
  await client.send(
    new PutBucketLifecycleConfigurationCommand({ Bucket: name, LifecycleConfiguration: { Rules } }),
  );
}

async function createDeliveryStream(
  client: FirehoseClient,
  { name, properties }: DeployedResource<'AWS::KinesisFirehose::DeliveryStream'>,
): Promise<void> {
  await client.send(new CreateDeliveryStreamCommand({ DeliveryStreamName: name, ...properties }));
}

async function createTable(
  client: DynamoDBClient,
  { name, properties }: DeployedResource<'AWS::DynamoDB::Table'>,
): Promise<void> {
  const { TimeToLiveSpecification, ...definition } = properties;
  await client.send(
    new CreateTableCommand({ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...definition }),
  );
  if (TimeToLiveSpecification?.Enabled !== true) return;
  await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
}
