import { isDeepStrictEqual } from 'node:util';
import {
  DescribeTableCommand,
  DynamoDBClient,
  paginateListTables,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { DeleteBucketLifecycleCommand, ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import {
  DeleteSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  paginateListSecrets,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { paginateListTopics, SNSClient } from '@aws-sdk/client-sns';
import { paginateListQueues, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { UnusableStateError } from './aws/kept/kept-state.ts';
import { type ClientSettings, queueAttributes, setLifecycle, setTimeToLive } from './deploy.ts';
import type { Resource, Resources } from './template/resources.ts';

/** What a queue has where its template says nothing. Source: SQS API reference, "SetQueueAttributes". */
const DEFAULT_ATTRIBUTES = {
  VisibilityTimeout: '30',
  DelaySeconds: '0',
  MaximumMessageSize: '1048576',
  MessageRetentionPeriod: '345600',
  ReceiveMessageWaitTimeSeconds: '0',
  RedrivePolicy: '',
};

export interface Adopted {
  /** Logical ids of what the endpoint has already. */
  readonly logicalIds: ReadonlySet<string>;
  /** What it has and the template has not: `queue orders`. */
  readonly leftOver: readonly string[];
  /** Whether the secret has another value than it was kept with. */
  readonly isSecretNew: boolean;
}

/**
 * Brings what the endpoint has kept of an earlier run in line with the template: settings are changed, content stays.
 * Another value of the secret becomes a version of its own, as in a rotation: what was signed before is still accepted.
 * @throws UnusableStateError where a table's rows are under other keys than the template's
 */
export async function adopt(
  resources: Resources,
  settings: ClientSettings,
  secret: string,
): Promise<Adopted> {
  const clients = [
    new SQSClient(settings),
    new SNSClient(settings),
    new S3Client({ ...settings, forcePathStyle: true }),
    new DynamoDBClient(settings),
    new SecretsManagerClient(settings),
  ] as const;
  const [sqs, sns, s3, dynamodb, secrets] = clients;
  try {
    const logicalIds = new Set<string>();
    const leftOver: string[] = [];
    /** Sorts what is there into what the template has, too, and what it has not. */
    function known<Found extends { name: string; logicalId: string }>(
      kind: string,
      names: readonly string[],
      ofTemplate: readonly Found[],
    ): Found[] {
      const found = ofTemplate.filter(({ name }) => names.includes(name));
      for (const { logicalId } of found) logicalIds.add(logicalId);
      const wanted = new Set(ofTemplate.map(({ name }) => name));
      leftOver.push(...names.filter((name) => !wanted.has(name)).map((name) => `${kind} ${name}`));
      return found;
    }

    const queues = known('queue', await queueNames(sqs), resources.ofType('AWS::SQS::Queue'));
    for (const { ref, properties } of queues) {
      const Attributes = { ...DEFAULT_ATTRIBUTES, ...queueAttributes(properties) };
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl: ref, Attributes }));
    }

    known('topic', await topicNames(sns), resources.ofType('AWS::SNS::Topic'));

    const { Buckets = [] } = await s3.send(new ListBucketsCommand());
    const bucketNames = Buckets.map(({ Name = '' }) => Name);
    for (const bucket of known('bucket', bucketNames, resources.ofType('AWS::S3::Bucket'))) {
      await s3.send(new DeleteBucketLifecycleCommand({ Bucket: bucket.name }));
      await setLifecycle(s3, bucket);
    }

    const tables = known('table', await tableNames(dynamodb), resources.ofType('AWS::DynamoDB::Table'));
    for (const table of tables) {
      await checkKeys(dynamodb, table);
      await setTimeToLive(dynamodb, table);
    }

    const kept = known('secret', await secretNames(secrets), resources.ofType('AWS::SecretsManager::Secret'));
    const areNew = await Promise.all(
      kept.map(async ({ logicalId, name }) => {
        const { ARN = '', SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: name }));
        resources.setSecretArn(logicalId, ARN);
        if (SecretString === secret) return false;
        await secrets.send(new PutSecretValueCommand({ SecretId: name, SecretString: secret }));
        return true;
      }),
    );
    return { logicalIds, leftOver, isSecretNew: areNew.includes(true) };
  } finally {
    for (const client of clients) client.destroy();
  }
}

async function all<Page>(pages: AsyncIterable<Page>): Promise<Page[]> {
  const collected: Page[] = [];
  for await (const page of pages) collected.push(page);
  return collected;
}

async function queueNames(client: SQSClient): Promise<string[]> {
  const pages = await all(paginateListQueues({ client }, {}));
  return pages.flatMap(({ QueueUrls = [] }) => QueueUrls.map(lastPart));
}

async function topicNames(client: SNSClient): Promise<string[]> {
  const pages = await all(paginateListTopics({ client }, {}));
  return pages.flatMap(({ Topics = [] }) => Topics.map(({ TopicArn = '' }) => lastPart(TopicArn)));
}

async function tableNames(client: DynamoDBClient): Promise<string[]> {
  const pages = await all(paginateListTables({ client }, {}));
  return pages.flatMap(({ TableNames = [] }) => TableNames);
}

/** One that is marked for deletion is deleted: the template wants one that can be read. */
async function secretNames(client: SecretsManagerClient): Promise<string[]> {
  const pages = await all(paginateListSecrets({ client }, { IncludePlannedDeletion: true }));
  const secrets = pages.flatMap(({ SecretList = [] }) => SecretList);
  for (const { DeletedDate, Name } of secrets) {
    if (DeletedDate === undefined) continue;
    await client.send(new DeleteSecretCommand({ SecretId: Name, ForceDeleteWithoutRecovery: true }));
  }
  return secrets.filter(({ DeletedDate }) => DeletedDate === undefined).map(({ Name = '' }) => Name);
}

/** The name at the end of a URL or an ARN. */
const lastPart = (text: string) => text.split(/[/:]/).at(-1) ?? '';

async function checkKeys(
  client: DynamoDBClient,
  { name, properties }: Resource<'AWS::DynamoDB::Table'>,
): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
  if (isDeepStrictEqual(keysOf(Table ?? {}), keysOf(properties))) return;
  throw new UnusableStateError(
    `Table ${name} has other keys or indexes in the template than in what is kept: delete the folder to begin empty, or start without --keep`,
  );
}

type Properties = Resource<'AWS::DynamoDB::Table'>['properties'];

/** What a table's rows are found by, in one order. */
function keysOf({
  KeySchema,
  AttributeDefinitions = [],
  GlobalSecondaryIndexes = [],
}: TableDescription | Properties) {
  return {
    keys: KeySchema,
    types: new Map(
      AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]),
    ),
    indexes: new Map(
      GlobalSecondaryIndexes.map((index) => [
        index.IndexName,
        {
          keys: index.KeySchema,
          projected: index.Projection?.ProjectionType,
          attributes: new Set(index.Projection?.NonKeyAttributes),
        },
      ]),
    ),
  };
}
