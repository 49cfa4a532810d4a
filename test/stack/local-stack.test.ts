import { DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { LocalStack } from 'local-aws';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { Resources } from 'local-aws/resources';
import { testAssembly } from '../support/test-assembly.ts';
import { startTestStack } from '../support/test-stack.ts';

let stack: LocalStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** The definition of a function of the running stack. */
function definitionOf(service: string) {
  const found = stack.functions.get(service);
  if (found === undefined) throw new Error(`The stack has no function ${service}`);
  return found.definition;
}

/** AWS clients with the access key of a function. */
function clientsOf(service: string) {
  const settings = { ...stack.operator, credentials: definitionOf(service).credentials, maxAttempts: 1 };
  return {
    sqs: new SQSClient(settings),
    sns: new SNSClient(settings),
    dynamodb: new DynamoDBClient(settings),
    secrets: new SecretsManagerClient(settings),
    s3: new S3Client({ ...settings, forcePathStyle: true }),
  };
}

type Clients = ReturnType<typeof clientsOf>;
const outputs = () => stack.outputs;

const readSecret = ({ secrets }: Clients) =>
  secrets.send(new GetSecretValueCommand({ SecretId: outputs().WebhookSecretArn }));
const putCast = ({ dynamodb }: Clients) =>
  dynamodb.send(new PutItemCommand({ TableName: outputs().CastTable, Item: { girl_id: { S: 'girl-1' } } }));
const getShop = ({ dynamodb }: Clients) =>
  dynamodb.send(
    new GetItemCommand({ TableName: outputs().ShopCacheTable, Key: { shop_id: { S: 'shop-1' } } }),
  );
const scan = (table: string) => (clients: Clients) =>
  clients.dynamodb.send(new ScanCommand({ TableName: outputs()[table] }));
const send = (queue: string) => (clients: Clients) =>
  clients.sqs.send(new SendMessageCommand({ QueueUrl: outputs()[queue], MessageBody: 'of a test' }));
const receive = (queue: string) => (clients: Clients) =>
  clients.sqs.send(new ReceiveMessageCommand({ QueueUrl: outputs()[queue] }));
const publish = (topic: string) => (clients: Clients) =>
  clients.sns.send(new PublishCommand({ TopicArn: outputs()[topic], Message: 'of a test' }));
const payloadOf = (event: string) => ({ Bucket: outputs().PayloadBucket, Key: `${event}/of-a-test` });
const getPayload = (event: string) => (clients: Clients) =>
  clients.s3.send(new GetObjectCommand(payloadOf(event)));

type Call = (clients: Clients) => Promise<unknown>;

// What each role may do is needed by every delivery of the acceptance suite.
test.each<[string, string, Call]>([
  ['receiver', 'receive from a queue that it sends to', receive('ShopUpdatedQueueUrl')],
  ['receiver', 'read a payload', getPayload('shop.updated')],
  ['receiver', 'read a table', scan('ContactPartnerTable')],
  ['shop-updated', 'read the secret', readSecret],
  ['shop-updated', 'write to the cast table', putCast],
  ['shop-updated', 'read its own table', getShop],
  ['shop-updated', 'send to its own queue', send('ShopUpdatedQueueUrl')],
  ['shop-updated', 'receive from the queue of another event', receive('UserUpdatedQueueUrl')],
  ['shop-updated', 'read the payload of another event', getPayload('user.updated')],
  ['review-posted', 'publish to the chat topic', publish('ChatTopicArn')],
])('%s may not %s', async (service, _, call) => {
  await expect(call(clientsOf(service))).rejects.toMatchObject({
    name: expect.stringMatching(/^(AccessDenied(Exception)?|AuthorizationErrorException)$/),
  });
});

test('the local stack knows every resource of the template', () => {
  const place = { awsUrl: 'http://aws', apiUrl: 'http://api' };
  expect(new Resources(readCloudAssembly(testAssembly()), place).unknownTypes()).toEqual([]);
});
