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
import { UnusableStateError } from './aws/kept-state.ts';
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

    const queueNames = await namesIn(paginateListQueues({ client: sqs }, {}), ({ QueueUrls }) =>
      QueueUrls?.map(lastPart),
    );
    const queues = known('queue', queueNames, resources.ofType('AWS::SQS::Queue'));
    for (const { ref, properties } of queues) {
      const Attributes = { ...DEFAULT_ATTRIBUTES, ...queueAttributes(properties) };
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl: ref, Attributes }));
    }

    const topicNames = await namesIn(paginateListTopics({ client: sns }, {}), ({ Topics }) =>
      Topics?.map(({ TopicArn = '' }) => lastPart(TopicArn)),
    );
    known('topic', topicNames, resources.ofType('AWS::SNS::Topic'));

    const { Buckets = [] } = await s3.send(new ListBucketsCommand());
    const bucketNames = Buckets.map(({ Name = '' }) => Name);
    for (const bucket of known('bucket', bucketNames, resources.ofType('AWS::S3::Bucket'))) {
      await s3.send(new DeleteBucketLifecycleCommand({ Bucket: bucket.name }));
      await setLifecycle(s3, bucket);
    }

    const tableNames = await namesIn(
      paginateListTables({ client: dynamodb }, {}),
      ({ TableNames }) => TableNames,
    );
    const tables = known('table', tableNames, resources.ofType('AWS::DynamoDB::Table'));
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

async function namesIn<Page>(
  pages: AsyncIterable<Page>,
  namesOf: (page: Page) => string[] | undefined,
): Promise<string[]> {
  const names: string[] = [];
  for await (const page of pages) names.push(...(namesOf(page) ?? []));
  return names;
}

/** One that is marked for deletion is deleted: the template wants one that can be read. */
async function secretNames(client: SecretsManagerClient): Promise<string[]> {
  const names: string[] = [];
  for await (const { SecretList = [] } of paginateListSecrets({ client }, { IncludePlannedDeletion: true })) {
    for (const { DeletedDate, Name = '' } of SecretList) {
      if (DeletedDate === undefined) names.push(Name);
      else await client.send(new DeleteSecretCommand({ SecretId: Name, ForceDeleteWithoutRecovery: true }));
    }
  }
  return names;
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

/** What the items are stored by. The order of definitions, indexes and projected attributes does not matter. */
function keysOf({
  KeySchema,
  AttributeDefinitions,
  GlobalSecondaryIndexes = [],
}: TableDescription | Properties) {
  const indexes = GlobalSecondaryIndexes.map(({ IndexName, KeySchema: keys, Projection }) => ({
    IndexName,
    keys,
    type: Projection?.ProjectionType,
    attributes: new Set(Projection?.NonKeyAttributes),
  }));
  return { KeySchema, types: new Set(AttributeDefinitions), indexes: new Set(indexes) };
}
