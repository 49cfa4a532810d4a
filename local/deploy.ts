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
import type { Resource, Resources } from './template/resources.ts';

/** How an AWS client reaches the local endpoint. */
export interface ClientSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface DeployOptions {
  /** Value that every secret of the template gets. */
  readonly secret: string;
  /** Logical ids of what is there already. @default nothing */
  readonly existing?: ReadonlySet<string> | undefined;
  /** Told of each resource that was made, also where another one cannot be. @default none */
  readonly onMade?: (logicalId: string) => void;
}

/**
 * Creates the template's queues, topics, tables, buckets, delivery streams and secrets at the local AWS endpoint, and
 * what its queues subscribe to.
 * @throws Error of the first that cannot be made, when the others are
 */
export async function deploy(
  resources: Resources,
  settings: ClientSettings,
  { secret, existing = new Set(), onMade = () => {} }: DeployOptions,
): Promise<void> {
  const making = <Type extends Parameters<Resources['ofType']>[0]>(
    type: Type,
    make: (resource: Resource<Type>) => Promise<unknown>,
  ) =>
    resources
      .ofType(type)
      .filter(({ logicalId }) => !existing.has(logicalId))
      .map(async (resource) => {
        await make(resource);
        onMade(resource.logicalId);
      });
  const secrets = new SecretsManagerClient(settings);
  const sqs = new SQSClient(settings);
  const sns = new SNSClient(settings);
  const dynamodb = new DynamoDBClient(settings);
  const s3 = new S3Client({ ...settings, forcePathStyle: true });
  const firehose = new FirehoseClient(settings);
  try {
    await allMade([
      ...making('AWS::SecretsManager::Secret', async ({ logicalId, name, properties }) => {
        const { ARN } = await secrets.send(
          new CreateSecretCommand({ Name: name, SecretString: secret, Description: properties.Description }),
        );
        resources.setSecretArn(logicalId, ARN ?? '');
      }),
      ...making('AWS::SNS::Topic', ({ name }) => sns.send(new CreateTopicCommand({ Name: name }))),
      ...making('AWS::S3::Bucket', (bucket) => createBucket(s3, bucket)),
      ...making('AWS::DynamoDB::Table', (table) => createTable(dynamodb, table)),
      ...making('AWS::SQS::Queue', (queue) => createQueue(sqs, queue)),
      ...making('AWS::KinesisFirehose::DeliveryStream', (stream) => createDeliveryStream(firehose, stream)),
    ]);
    await allMade(making('AWS::SNS::Subscription', (subscription) => subscribe(sns, subscription)));
  } finally {
    for (const client of [secrets, sqs, sns, dynamodb, s3, firehose]) client.destroy();
  }
}

/** @throws Error of the first that fails, when the others are done */
async function allMade(makings: readonly Promise<void>[]): Promise<void> {
  const made = await Promise.allSettled(makings);
  const failed = made.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Makes the template's alarms. There are no metrics for them to look at: each stands as it is set. */
export function createAlarms(resources: Pick<Resources, 'ofType'>, aws: Pick<AwsEndpoint, 'putAlarm'>): void {
  for (const { name, properties } of resources.ofType('AWS::CloudWatch::Alarm')) {
    aws.putAlarm({ AlarmName: name, ...properties });
  }
}

async function createQueue(
  client: SQSClient,
  { name, properties }: Resource<'AWS::SQS::Queue'>,
): Promise<void> {
  await client.send(new CreateQueueCommand({ QueueName: name, Attributes: queueAttributes(properties) }));
}

/** A queue's settings as SQS' API takes them. */
export function queueAttributes({
  RedrivePolicy,
  ...plain
}: Resource<'AWS::SQS::Queue'>['properties']): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(plain).map(([attribute, value]) => [attribute, String(value)])),
    ...(RedrivePolicy && { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
  };
}

/** Only queues: from here nobody is mailed or called. */
async function subscribe(
  client: SNSClient,
  { properties }: Resource<'AWS::SNS::Subscription'>,
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

async function createBucket(client: S3Client, bucket: Resource<'AWS::S3::Bucket'>): Promise<void> {
  await client.send(new CreateBucketCommand({ Bucket: bucket.name }));
  await setLifecycle(client, bucket);
}

/** The lifecycle can be read; nothing expires while a local stack runs. */
export async function setLifecycle(
  client: S3Client,
  { name, properties }: Resource<'AWS::S3::Bucket'>,
): Promise<void> {
  const { LifecycleConfiguration } = properties;
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
  { name, properties }: Resource<'AWS::KinesisFirehose::DeliveryStream'>,
): Promise<void> {
  const { DeliveryStreamType, DeliveryStreamEncryptionConfigurationInput } = properties;
  const { RoleARN, BucketARN, ...others } = properties.ExtendedS3DestinationConfiguration;
  await client.send(
    new CreateDeliveryStreamCommand({
      DeliveryStreamName: name,
      DeliveryStreamType,
      DeliveryStreamEncryptionConfigurationInput,
      ExtendedS3DestinationConfiguration: { RoleARN, BucketARN, ...others },
    }),
  );
}

async function createTable(client: DynamoDBClient, table: Resource<'AWS::DynamoDB::Table'>): Promise<void> {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes } = table.properties;
  await client.send(
    new CreateTableCommand({
      TableName: table.name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema,
      AttributeDefinitions,
      GlobalSecondaryIndexes,
    }),
  );
  await setTimeToLive(client, table);
}

export async function setTimeToLive(
  client: DynamoDBClient,
  { name, properties: { TimeToLiveSpecification } }: Resource<'AWS::DynamoDB::Table'>,
): Promise<void> {
  if (TimeToLiveSpecification === undefined) return;
  await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
}
