import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand, QueryCommand, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
} from '@aws-sdk/client-secrets-manager';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { expect, test } from '@jest/globals';
import { COMMIT_INTERVAL } from '../../../../local/aws/kept-state.ts';
import { eventually } from '../../../support/eventually.ts';
import { clientsAt, KeptEndpoint } from './kept-endpoint.ts';

const PROGRAM = 'test/local/aws/kept/endpoint-process.ts';
const ROUNDS = 2;

/** Clients of each kind that work at the same time. */
const CLIENTS = 2;

type Clients = ReturnType<typeof clientsAt>;

/** @param blocks maximum size of a file, to simulate a full disk: half a KiB or one each. @default no limit */
async function startProcess(folder: string, blocks = 'unlimited') {
  const command = `ulimit -f ${blocks} && exec "$0" "$@"`;
  const child = spawn('sh', ['-c', command, process.execPath, PROGRAM, folder], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const ended = once(child, 'close');
  let errors = '';
  child.stderr.on('data', (data) => {
    errors += data;
  });
  const [url] = await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => {
      throw new Error(`The endpoint has ended: ${errors}`);
    }),
  ]);
  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await ended;
  }
  return {
    clients: clientsAt(String(url).trim()),
    errors: () => errors,
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

const queueUrl = (name: string) => `http://localhost/000000000000/${name}`;

async function create({ sqs, dynamodb, secrets }: Clients): Promise<void> {
  await sqs.send(new CreateQueueCommand({ QueueName: 'dead' }));
  const deadLetterTargetArn = 'arn:aws:sqs:eu-central-1:000000000000:dead';
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
  await sqs.send(new CreateQueueCommand({ QueueName: 'failing', Attributes: { RedrivePolicy } }));
  await sqs.send(new CreateQueueCommand({ QueueName: 'work' }));
  await dynamodb.send(
    new CreateTableCommand({
      TableName: 'done',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [
        { AttributeName: 'id', AttributeType: 'S' },
        { AttributeName: 'kind', AttributeType: 'S' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-kind',
          KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    }),
  );
  await secrets.send(new CreateSecretCommand({ Name: 'secret', SecretString: '0 0' }));
}

/** Sends, moves and processes messages, and rotates the secret, until the endpoint stops answering. */
async function work({ sqs, dynamodb, secrets }: Clients, round: number): Promise<void> {
  async function send(sender: string, queue: string): Promise<void> {
    for (let number = 0; ; number += 1) {
      const MessageBody = `${sender} ${number}`;
      await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl(queue), MessageBody }));
    }
  }
  async function process(): Promise<void> {
    for (;;) {
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl('work') }));
      for (const { Body = '', ReceiptHandle } of Messages) {
        await dynamodb.send(
          new UpdateItemCommand({
            TableName: 'done',
            Key: { id: { S: Body } },
            UpdateExpression: 'SET kind = :kind',
            ExpressionAttributeValues: { ':kind': { S: 'message' } },
          }),
        );
        await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl('work'), ReceiptHandle }));
      }
    }
  }
  async function fail(): Promise<void> {
    for (;;) {
      await sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl('failing'), VisibilityTimeout: 0 }));
    }
  }
  async function rotate(): Promise<void> {
    for (let number = 1; ; number += 1) {
      const SecretString = `${round} ${number}`;
      await secrets.send(new PutSecretValueCommand({ SecretId: 'secret', SecretString }));
      await sleep(20);
    }
  }
  const each = Array.from({ length: CLIENTS }, (_, index) => [
    send(`worked-${round}-${index}`, 'work'),
    send(`failed-${round}-${index}`, 'failing'),
    process(),
    fail(),
  ]);
  await Promise.allSettled([...each.flat(), rotate()]);
}

/** The file's content as another process sees it. */
function committedMessages(folder: string): string[] {
  const reader = new DatabaseSync(join(folder, 'fauxqs.db'), { readOnly: true, timeout: 1_000 });
  const rows = reader.prepare('SELECT body FROM sqs_messages').all();
  reader.close();
  return rows.map(({ body }) => String(body));
}

/** The content after the next start. */
async function contentOf({ aws, clients }: KeptEndpoint) {
  const bodies = async (name: string) => (await aws.inspectQueue(queueUrl(name))).map(({ body }) => body);
  const places = [...(await bodies('work')), ...(await bodies('failing')), ...(await bodies('dead'))];
  const { Items: items = [] } = await clients.dynamodb.send(new ScanCommand({ TableName: 'done' }));
  const { Items: byKind = [] } = await clients.dynamodb.send(
    new QueryCommand({
      TableName: 'done',
      IndexName: 'by-kind',
      KeyConditionExpression: 'kind = :kind',
      ExpressionAttributeValues: { ':kind': { S: 'message' } },
    }),
  );
  const ids = (found: typeof items) => found.map(({ id }) => id?.S ?? '').sort();
  return { places, done: ids(items), byKind: ids(byKind) };
}

/** For each sender, the numbers of its messages, in order. */
function numbersBySender(bodies: Iterable<string>): number[][] {
  const senders = Map.groupBy(bodies, (body) => body.split(' ')[0]);
  return [...senders.values()].map((group) =>
    group.map((body) => Number(body.split(' ')[1])).sort((a, b) => a - b),
  );
}

async function secretAt({ clients }: KeptEndpoint, VersionStage: string): Promise<number[]> {
  const { SecretString = '' } = await clients.secrets.send(
    new GetSecretValueCommand({ SecretId: 'secret', VersionStage }),
  );
  return SecretString.split(' ').map(Number);
}

// Takes 8 s: each round starts a process and waits for its first save.
test('killed at random moments under traffic, the state is that of one moment: no message is lost or in two queues, tables agree with their indexes, and commits stay', async () => {
  await using endpoint = await KeptEndpoint.start();
  await create(endpoint.clients);
  await endpoint.stop();
  for (let round = 0; round < ROUNDS; round += 1) {
    await using running = await startProcess(endpoint.folder);
    const worked = work(running.clients, round);
    const committed = await eventually(async () => {
      const found = committedMessages(endpoint.folder).filter((body) => body.includes(`-${round}-`));
      return found.length > 0 ? found : undefined;
    });
    await sleep(Math.random() * COMMIT_INTERVAL);
    await running.kill();
    await worked;

    await endpoint.start();
    const { places, done, byKind } = await contentOf(endpoint);
    expect(places).toHaveLength(new Set(places).size);
    expect(byKind).toEqual(done);
    const all = new Set([...places, ...done]);
    expect([...all]).toEqual(expect.arrayContaining(committed));
    // A gap would be a message that was removed from its queue before its result was stored.
    for (const numbers of numbersBySender(all)) expect(numbers).toEqual([...numbers.keys()]);
    const [currentRound = 0, current = 0] = await secretAt(endpoint, 'AWSCURRENT');
    // The last commit may be older than this round's first rotation.
    expect([round - 1, round]).toContain(currentRound);
    if (current > 1) expect(await secretAt(endpoint, 'AWSPREVIOUS')).toEqual([currentRound, current - 1]);
    await endpoint.stop();
  }
});

test('a full disk is reported once, every later write is refused, and the next start has all commits', async () => {
  await using endpoint = new KeptEndpoint(await mkdtemp(join(tmpdir(), 'partner-webhooks-kept-')));
  await using running = await startProcess(endpoint.folder, '2000');
  const { sqs } = running.clients;
  await sqs.send(new CreateQueueCommand({ QueueName: 'work' }));
  const send = (MessageBody: string) =>
    sqs.send(new SendMessageCommand({ QueueUrl: queueUrl('work'), MessageBody }));
  await send('first');
  await eventually(async () => committedMessages(endpoint.folder)[0]);
  const large = '.'.repeat(900_000);
  await eventually(async () => {
    await send(large).catch(() => {});
    return running.errors() || undefined;
  });
  expect(running.errors()).toMatch(
    /^The state cannot be written to \S+, so the stack now refuses all writes: disk I\/O error\. .+\n$/,
  );
  await expect(send('later')).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
  await running.kill();
  expect(running.errors().trim().split('\n')).toHaveLength(1);

  await endpoint.start();
  const messages = await endpoint.aws.inspectQueue(queueUrl('work'));
  expect(messages[0]).toMatchObject({ body: 'first' });
});
