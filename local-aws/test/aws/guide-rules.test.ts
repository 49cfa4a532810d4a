import {
  type AttributeValue,
  CreateTableCommand,
  DynamoDBClient,
  PutItemCommand,
  type PutItemCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../aws/endpoint.ts';
import { settingsOf, startEndpoint } from './support.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

let endpoint: AwsEndpoint;
let sqs: SQSClient;
let dynamodb: DynamoDBClient;
let s3: S3Client;
let secrets: SecretsManagerClient;
let QueueUrl: string | undefined;
let SecretId: string | undefined;
const TableName = 'table';
const Bucket = 'bucket';
const key = { id: { S: 'id' } };

beforeAll(async () => {
  endpoint = await startEndpoint();
  const settings = settingsOf(endpoint);
  sqs = new SQSClient(settings);
  dynamodb = new DynamoDBClient(settings);
  s3 = new S3Client({ ...settings, forcePathStyle: true });
  secrets = new SecretsManagerClient(settings);
  ({ QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'queue' })));
  await dynamodb.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  await s3.send(new CreateBucketCommand({ Bucket }));
  ({ ARN: SecretId } = await secrets.send(new CreateSecretCommand({ Name: 'secret', SecretString: 'one' })));
});
afterAll(() => endpoint.close());

const many = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => item(index));
const batch = (...Entries: SendMessageBatchRequestEntry[]) =>
  sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
const withNumber = (StringValue: string) =>
  sqs.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: 'body',
      MessageAttributes: { number: { DataType: 'Number', StringValue } },
    }),
  );
const put = (input: Partial<PutItemCommandInput>) =>
  dynamodb.send(new PutItemCommand({ TableName, Item: key, ...input }));
const update = (input: Partial<UpdateItemCommandInput>) =>
  dynamodb.send(new UpdateItemCommand({ TableName, Key: key, ...input }));
const ExpressionAttributeValues = { ':v': { S: 'value' } };
const conditions = (count: number) => many(count, (index) => `a${index} = :v`).join(' OR ');
const operands = (count: number) => `NOT id IN (${many(count, () => ':v').join(', ')})`;
const nested = (levels: number): AttributeValue =>
  levels === 0 ? { S: '' } : { M: { a: nested(levels - 1) } };
const object = (input: object) =>
  s3.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'body', ...input }));
const rule = (ID: string, Days: number) =>
  s3.send(
    new PutBucketLifecycleConfigurationCommand({
      Bucket,
      LifecycleConfiguration: {
        Rules: [{ ID, Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days } }],
      },
    }),
  );
const value = (SecretString: string, more: object = {}) =>
  secrets.send(new PutSecretValueCommand({ SecretId, SecretString, ...more }));

/** AWS' limits, with a call at each limit and one beyond it. */
const limits: readonly {
  what: string;
  accepted?: () => Promise<unknown>;
  refused: () => Promise<unknown>;
  name: string;
}[] = [
  {
    what: 'name of a queue',
    accepted: () => sqs.send(new CreateQueueCommand({ QueueName: 'q'.repeat(80) })),
    refused: () => sqs.send(new CreateQueueCommand({ QueueName: 'q'.repeat(81) })),
    name: 'InvalidParameterValue',
  },
  {
    what: 'number of receives before a dead letter',
    refused: () =>
      sqs.send(
        new CreateQueueCommand({
          QueueName: 'source',
          Attributes: { RedrivePolicy: '{"maxReceiveCount":1001}' },
        }),
      ),
    name: 'InvalidParameterValue',
  },
  {
    what: 'id in a batch',
    accepted: () => batch({ Id: 'i'.repeat(80), MessageBody: 'body' }),
    refused: () => batch({ Id: 'i'.repeat(81), MessageBody: 'body' }),
    name: 'InvalidBatchEntryId',
  },
  {
    what: 'number of different ids in a batch',
    refused: () =>
      batch({ Id: 'a', MessageBody: 'body', DelaySeconds: 901 }, { Id: 'a', MessageBody: 'body' }),
    name: 'BatchEntryIdsNotDistinct',
  },
  {
    what: 'number of entries in a batch',
    refused: () =>
      sqs.send(
        new DeleteMessageBatchCommand({
          QueueUrl,
          Entries: many(11, (id) => ({ Id: `${id}`, ReceiptHandle: 'r' })),
        }),
      ),
    name: 'TooManyEntriesInBatchRequest',
  },
  {
    what: 'size of a batch',
    accepted: () => batch(...many(2, (id) => ({ Id: `${id}`, MessageBody: 'b'.repeat(MIB / 2) }))),
    // The entry that SQS rejects for itself counts, too.
    refused: () =>
      batch(
        { Id: 'a', MessageBody: 'b'.repeat(MIB / 2), DelaySeconds: 901 },
        { Id: 'b', MessageBody: 'b'.repeat(MIB / 2 + 1) },
      ),
    name: 'BatchRequestTooLong',
  },
  {
    what: 'number in a message attribute',
    accepted: () => withNumber(`-${'1'.repeat(37)}.1e-5`),
    refused: () => withNumber('1'.repeat(39)),
    name: 'InvalidParameterValue',
  },
  {
    what: 'kind of number in a message attribute',
    refused: () => withNumber('one'),
    name: 'InvalidParameterValue',
  },
  {
    what: 'type of a message attribute',
    refused: () =>
      sqs.send(
        new SendMessageCommand({
          QueueUrl,
          MessageBody: 'body',
          MessageAttributes: { a: { DataType: `String.${'t'.repeat(250)}`, StringValue: 'value' } },
        }),
      ),
    name: 'InvalidParameterValue',
  },
  {
    what: 'size of an item',
    accepted: () => put({ Item: { ...key, a: { S: 'a'.repeat(399 * KIB) } } }),
    refused: () => put({ Item: { ...key, a: { S: 'a'.repeat(400 * KIB) } } }),
    name: 'ValidationException',
  },
  {
    what: 'key of an item',
    accepted: () => put({ Item: { id: { S: 'i'.repeat(2 * KIB) } } }),
    refused: () => put({ Item: { id: { S: 'i'.repeat(2 * KIB + 1) } } }),
    name: 'ValidationException',
  },
  {
    what: 'emptiness of an item',
    accepted: () => put({ Item: { ...key, a: { S: '' } } }),
    refused: () => put({ Item: { id: { S: '' } } }),
    name: 'ValidationException',
  },
  {
    what: 'digits of a number',
    accepted: () => put({ Item: { ...key, a: { N: '1'.repeat(38) } } }),
    refused: () => put({ Item: { ...key, a: { N: '1'.repeat(39) } } }),
    name: 'ValidationException',
  },
  {
    what: 'nesting of an item',
    accepted: () => put({ Item: { ...key, a: nested(32) } }),
    refused: () => put({ Item: { ...key, a: nested(33) } }),
    name: 'ValidationException',
  },
  {
    what: 'length of an expression',
    refused: () => update({ UpdateExpression: `SET ${'a'.repeat(4 * KIB)} = :v`, ExpressionAttributeValues }),
    name: 'ValidationException',
  },
  {
    what: 'number of operators in an expression',
    accepted: () => put({ ConditionExpression: `id <> :v OR ${conditions(149)}`, ExpressionAttributeValues }),
    refused: () => put({ ConditionExpression: `id <> :v OR ${conditions(151)}`, ExpressionAttributeValues }),
    name: 'ValidationException',
  },
  {
    what: 'number of operands',
    accepted: () => put({ ConditionExpression: operands(100), ExpressionAttributeValues }),
    refused: () => put({ ConditionExpression: operands(101), ExpressionAttributeValues }),
    name: 'ValidationException',
  },
  {
    what: 'length of a placeholder',
    refused: () =>
      update({
        UpdateExpression: `SET a = :${'v'.repeat(255)}`,
        ExpressionAttributeValues: { [`:${'v'.repeat(255)}`]: { S: '' } },
      }),
    name: 'ValidationException',
  },
  {
    what: 'size of all placeholders',
    refused: () =>
      put({
        ConditionExpression: 'id <> :v',
        ExpressionAttributeValues: { ':v': { S: 'v'.repeat(2 * MIB) } },
      }),
    name: 'ValidationException',
  },
  {
    what: 'key of an object',
    accepted: () => object({ Key: `a${'あ'.repeat(341)}` }),
    refused: () => object({ Key: `ab${'あ'.repeat(341)}` }),
    name: 'KeyTooLongError',
  },
  {
    what: 'metadata of an object',
    accepted: () => object({ Metadata: { name: 'v'.repeat(2 * KIB - 4) } }),
    refused: () => object({ Metadata: { name: 'v'.repeat(2 * KIB - 3) } }),
    name: 'MetadataTooLarge',
  },
  {
    what: 'checksum of an object',
    refused: () => object({ ContentMD5: Buffer.alloc(16).toString('base64') }),
    name: 'BadDigest',
  },
  {
    what: 'number of deleted objects',
    refused: () =>
      s3.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects: many(1_001, (id) => ({ Key: `${id}` })) } }),
      ),
    name: 'MalformedXML',
  },
  {
    what: 'id of a lifecycle rule',
    accepted: () => rule('i'.repeat(255), 1),
    refused: () => rule('i'.repeat(256), 1),
    name: 'InvalidArgument',
  },
  { what: 'days of a lifecycle rule', refused: () => rule('id', 0), name: 'InvalidArgument' },
  {
    what: 'bytes of a secret',
    accepted: () => value('あ'.repeat(21_845)),
    refused: () => value('あ'.repeat(21_846)),
    name: 'ValidationException',
  },
  {
    what: 'name of a secret',
    refused: () => secrets.send(new CreateSecretCommand({ Name: 'a name' })),
    name: 'ValidationException',
  },
  {
    what: 'number of labels of a version',
    accepted: () =>
      value('labelled', {
        ClientRequestToken: 't'.repeat(32),
        VersionStages: many(20, (id) => `label-${id}`),
      }),
    refused: () =>
      secrets.send(
        new UpdateSecretVersionStageCommand({
          SecretId,
          VersionStage: 'another',
          MoveToVersionId: 't'.repeat(32),
        }),
      ),
    name: 'LimitExceededException',
  },
  {
    what: 'recovery window of a secret',
    refused: () => secrets.send(new DeleteSecretCommand({ SecretId, RecoveryWindowInDays: 6 })),
    name: 'InvalidParameterException',
  },
  {
    what: 'way to delete a secret',
    refused: () =>
      secrets.send(
        new DeleteSecretCommand({ SecretId, RecoveryWindowInDays: 7, ForceDeleteWithoutRecovery: true }),
      ),
    name: 'InvalidParameterException',
  },
];

describe('AWS’ guides limit the', () => {
  test.each(limits)('$what', async ({ accepted, refused, name }) => {
    await accepted?.();
    await expect(refused()).rejects.toMatchObject({ name });
  });
});
