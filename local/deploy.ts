import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  paginateListTables,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  CreateDeliveryStreamCommand,
  FirehoseClient,
  ResourceInUseException,
} from '@aws-sdk/client-firehose';
import {
  CreateBucketCommand,
  DeleteBucketLifecycleCommand,
  type LifecycleRule,
  ListBucketsCommand,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  paginateListSecrets,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { CreateTopicCommand, paginateListTopics, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  paginateListQueues,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { AwsEndpoint } from './aws/endpoint.ts';
import { UnusableStateError } from './aws/kept-state.ts';
import { accessKeyOf, clientSettings } from './client-settings.ts';
import { type Resource, type Resources, type ResourceType, rolePolicies } from './template/resources.ts';

/** Attributes of a queue if the template does not set them. Source: SQS API reference, "SetQueueAttributes". */
const DEFAULT_ATTRIBUTES = {
  VisibilityTimeout: '30',
  DelaySeconds: '0',
  MaximumMessageSize: '1048576',
  MessageRetentionPeriod: '345600',
  ReceiveMessageWaitTimeSeconds: '0',
  RedrivePolicy: '',
};

interface Handler<Type extends ResourceType> {
  /** The word for it in messages: `queue`. */
  readonly noun: string;
  /** The names of existing ones at the endpoint. */
  list(): Promise<string[]>;
  create(resource: Resource<Type>): Promise<unknown>;
  /** Applies the template's settings to an existing one. Its content stays. */
  update?(resource: Resource<Type>): Promise<unknown>;
}

/** The resources of one type, and whether the endpoint has them. */
interface Plan {
  create(): Promise<unknown>[];
  update(): Promise<unknown>[];
  /** Resources at the endpoint that the template does not have: `queue orders`. */
  readonly leftOver: readonly string[];
}

/**
 * Updates the AWS endpoint to a template: creates missing resources, and applies the template's settings to existing
 * ones. Existing delivery streams stay unchanged. Nothing is deleted, except a secret that is marked for deletion and
 * wanted again.
 * @param secret value of a new secret. An existing one keeps its value
 * @returns resources at the endpoint that the template does not have: `queue orders`
 * @throws UnusableStateError if a table has other keys than in the template. Then nothing has changed
 * @throws Error of the first resource that cannot be created, after all others
 */
export async function deploy(
  resources: Resources,
  aws: Pick<AwsEndpoint, 'url' | 'putAlarm' | 'addPrincipals'>,
  secret: string,
): Promise<readonly string[]> {
  const settings = clientSettings(aws.url, 'operator');
  const secrets = new SecretsManagerClient(settings);
  const sqs = new SQSClient(settings);
  const sns = new SNSClient(settings);
  const dynamodb = new DynamoDBClient(settings);
  const s3 = new S3Client({ ...settings, forcePathStyle: true });
  const firehose = new FirehoseClient(settings);

  async function plan<Type extends ResourceType>(type: Type, handler: Handler<Type>): Promise<Plan> {
    const names = await handler.list();
    const wanted = resources.ofType(type);
    const unwanted = names.filter((name) => !wanted.some((resource) => resource.name === name));
    return {
      create: () => wanted.filter(({ name }) => !names.includes(name)).map(handler.create),
      update: () =>
        wanted.filter(({ name }) => names.includes(name)).map(async (one) => handler.update?.(one)),
      leftOver: unwanted.map((name) => `${handler.noun} ${name}`),
    };
  }

  try {
    const tableNames = await namesIn(paginateListTables({ client: dynamodb }, {}), (page) => page.TableNames);
    for (const table of resources.ofType('AWS::DynamoDB::Table')) {
      if (tableNames.includes(table.name)) await checkKeys(dynamodb, table);
    }
    const plans = await Promise.all([
      plan('AWS::SQS::Queue', {
        noun: 'queue',
        list: () => namesIn(paginateListQueues({ client: sqs }, {}), (page) => page.QueueUrls?.map(lastPart)),
        create: ({ name, properties }) =>
          sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: queueAttributes(properties) })),
        update: ({ ref, properties }) => {
          const Attributes = { ...DEFAULT_ATTRIBUTES, ...queueAttributes(properties) };
          return sqs.send(new SetQueueAttributesCommand({ QueueUrl: ref, Attributes }));
        },
      }),
      plan('AWS::SNS::Topic', {
        noun: 'topic',
        list: () =>
          namesIn(paginateListTopics({ client: sns }, {}), (page) =>
            page.Topics?.map(({ TopicArn = '' }) => lastPart(TopicArn)),
          ),
        create: ({ name }) => sns.send(new CreateTopicCommand({ Name: name })),
      }),
      plan('AWS::S3::Bucket', {
        noun: 'bucket',
        list: async () =>
          ((await s3.send(new ListBucketsCommand())).Buckets ?? []).map(({ Name = '' }) => Name),
        async create(bucket) {
          await s3.send(new CreateBucketCommand({ Bucket: bucket.name }));
          await setLifecycle(s3, bucket);
        },
        async update(bucket) {
          await s3.send(new DeleteBucketLifecycleCommand({ Bucket: bucket.name }));
          await setLifecycle(s3, bucket);
        },
      }),
      plan('AWS::DynamoDB::Table', {
        noun: 'table',
        list: async () => tableNames,
        async create(table) {
          await createTable(dynamodb, table);
          await setTimeToLive(dynamodb, table);
        },
        update: (table) => setTimeToLive(dynamodb, table),
      }),
      plan('AWS::SecretsManager::Secret', {
        noun: 'secret',
        list: () => secretNames(secrets, resources),
        async create({ logicalId, name, properties: { Description } }) {
          const command = new CreateSecretCommand({ Name: name, SecretString: secret, Description });
          resources.setSecretArn(logicalId, (await secrets.send(command)).ARN ?? '');
        },
        async update({ logicalId, name }) {
          const { ARN = '' } = await secrets.send(new DescribeSecretCommand({ SecretId: name }));
          resources.setSecretArn(logicalId, ARN);
        },
      }),
    ]);
    await allDone(plans.flatMap((one) => one.create()));
    await allDone([
      ...resources.ofType('AWS::SNS::Subscription').map((one) => subscribe(sns, one)),
      ...resources
        .ofType('AWS::KinesisFirehose::DeliveryStream')
        .map((one) => createDeliveryStream(firehose, one)),
    ]);
    await allDone(plans.flatMap((one) => one.update()));
    // Alarms have no metrics here. Each keeps the state that a command sets.
    for (const { name, properties } of resources.ofType('AWS::CloudWatch::Alarm')) {
      aws.putAlarm({ AlarmName: name, ...properties });
    }
    aws.addPrincipals(
      rolePolicies(resources).map(({ arn, logicalId, statements }) => ({
        name: logicalId,
        arn,
        accessKeyId: accessKeyOf(arn),
        statements,
      })),
    );
    return plans.flatMap(({ leftOver }) => leftOver);
  } finally {
    for (const client of [secrets, sqs, sns, dynamodb, s3, firehose]) client.destroy();
  }
}

/**
 * @throws Error of the first that failed, after all have ended, so that nothing is created later, during the next
 * attempt
 */
async function allDone(work: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function namesIn<Page>(
  pages: AsyncIterable<Page>,
  namesOf: (page: Page) => string[] | undefined,
): Promise<string[]> {
  const names: string[] = [];
  for await (const page of pages) names.push(...(namesOf(page) ?? []));
  return names;
}

const lastPart = (text: string) => text.split(/[/:]/).at(-1) ?? '';

/** Deletes a secret of the template that is marked for deletion, because the template needs a readable one. */
async function secretNames(client: SecretsManagerClient, resources: Resources): Promise<string[]> {
  const names: string[] = [];
  const wanted = new Set(resources.ofType('AWS::SecretsManager::Secret').map(({ name }) => name));
  for await (const { SecretList = [] } of paginateListSecrets({ client }, { IncludePlannedDeletion: true })) {
    for (const { DeletedDate, Name = '' } of SecretList) {
      if (DeletedDate === undefined) names.push(Name);
      else if (wanted.has(Name)) {
        await client.send(new DeleteSecretCommand({ SecretId: Name, ForceDeleteWithoutRecovery: true }));
      }
    }
  }
  return names;
}

function queueAttributes({
  RedrivePolicy,
  ...plain
}: Resource<'AWS::SQS::Queue'>['properties']): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(plain).map(([attribute, value]) => [attribute, String(value)])),
    ...(RedrivePolicy && { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
  };
}

/** Subscribes queues only, so that nobody is notified from here. */
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

/** The lifecycle can be read, but nothing expires while a local stack runs. */
async function setLifecycle(
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

/** An existing one stays unchanged. */
async function createDeliveryStream(
  client: FirehoseClient,
  { name, properties }: Resource<'AWS::KinesisFirehose::DeliveryStream'>,
): Promise<void> {
  const { DeliveryStreamType, DeliveryStreamEncryptionConfigurationInput } = properties;
  const { RoleARN, BucketARN, ...others } = properties.ExtendedS3DestinationConfiguration;
  const command = new CreateDeliveryStreamCommand({
    DeliveryStreamName: name,
    DeliveryStreamType,
    DeliveryStreamEncryptionConfigurationInput,
    ExtendedS3DestinationConfiguration: { RoleARN, BucketARN, ...others },
  });
  await client.send(command).catch((error) => {
    if (!(error instanceof ResourceInUseException)) throw error;
  });
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
}

async function setTimeToLive(
  client: DynamoDBClient,
  { name, properties: { TimeToLiveSpecification } }: Resource<'AWS::DynamoDB::Table'>,
): Promise<void> {
  if (TimeToLiveSpecification === undefined) return;
  // DynamoDB rejects a setting that has not changed.
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: name }));
  const isEnabled = TimeToLiveDescription?.TimeToLiveStatus === 'ENABLED';
  const isSameAttribute = TimeToLiveDescription?.AttributeName === TimeToLiveSpecification.AttributeName;
  if (isEnabled === TimeToLiveSpecification.Enabled && (isSameAttribute || !isEnabled)) return;
  await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
}

async function checkKeys(
  client: DynamoDBClient,
  { name, properties }: Resource<'AWS::DynamoDB::Table'>,
): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
  if (isDeepStrictEqual(keysOf(Table ?? {}), keysOf(properties))) return;
  throw new UnusableStateError(
    `Table ${name} has other keys or indexes in the template than the existing table. To start empty, start without --keep, or delete the folder of --keep`,
  );
}

/** The keys of a table and its indexes. The order of definitions, indexes and projected attributes does not matter. */
function keysOf({
  KeySchema,
  AttributeDefinitions,
  GlobalSecondaryIndexes = [],
}: TableDescription | Resource<'AWS::DynamoDB::Table'>['properties']) {
  const indexes = GlobalSecondaryIndexes.map(({ IndexName, KeySchema: keys, Projection }) => ({
    IndexName,
    keys,
    type: Projection?.ProjectionType,
    attributes: new Set(Projection?.NonKeyAttributes),
  }));
  return { KeySchema, types: new Set(AttributeDefinitions), indexes: new Set(indexes) };
}
