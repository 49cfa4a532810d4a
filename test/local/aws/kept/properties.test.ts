import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  TagQueueCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { startEndpoint } from '../support.ts';
import { clientsAt, KeptEndpoint } from './kept-endpoint.ts';

/** An endpoint, and a queue, table or bucket in it. */
interface Place {
  readonly world: { readonly aws: AwsEndpoint; readonly clients: ReturnType<typeof clientsAt> };
  readonly name: string;
  /** Receipt handles by the body of a message. */
  readonly handles: Map<string, string>;
  sent: number;
}

/** A call. @returns the result, which must be equal in both endpoints */
type Step = (place: Place) => Promise<unknown>;

let kept: KeptEndpoint;
/** Receives the same calls, and never stops. */
let oracle: AwsEndpoint;

beforeAll(async () => {
  kept = await KeptEndpoint.start();
  oracle = await startEndpoint();
});
afterAll(async () => {
  await kept[Symbol.asyncDispose]();
  await oracle.close();
});

const outcomeOf = (answer: Promise<unknown>) => answer.catch((error: unknown) => String(error));

let places = 0;

/** Each life is a list of calls, after which the endpoint stops and starts again. */
async function expectSameAfterRestarts(
  create: Step,
  step: fc.Arbitrary<Step>,
  contentOf: Step,
): Promise<void> {
  const life = fc.array(step, { minLength: 3, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
      places += 1;
      const name = `place-${places}`;
      const place: Place = { world: kept, name, handles: new Map(), sent: 0 };
      const unharmed = {
        ...place,
        world: { aws: oracle, clients: clientsAt(oracle.url) },
        handles: new Map(),
      };
      for (const one of [place, unharmed]) await create(one);
      for (const steps of lives) {
        for (const run of steps) {
          expect(await outcomeOf(run(place))).toEqual(await outcomeOf(run(unharmed)));
        }
        await kept.restart();
        expect(await contentOf(place)).toEqual(await contentOf(unharmed));
      }
    }),
    { numRuns: 5, endOnFailure: true },
  );
}

const queueUrl = (name: string) => `http://localhost/000000000000/${name}`;

/** Longer than any test, so that messages in flight or delayed stay so. */
const LONG_SECONDS = 600;

const send = fc
  .record({
    text: fc
      .string({ unit: 'binary-ascii', maxLength: 50 })
      .filter((text) => !/[^\t\n\r -\uD7FF]/.test(text)),
    size: fc.constantFrom(0, 0, 0, 700_000),
    DelaySeconds: fc.constantFrom(0, 0, 0, LONG_SECONDS),
  })
  .map(
    ({ text, size, DelaySeconds }): Step =>
      async (place) => {
        place.sent += 1;
        const MessageAttributes = { text: { DataType: 'String', StringValue: text === '' ? '-' : text } };
        const message = {
          MessageBody: `${place.sent} ${text}${'.'.repeat(size)}`,
          DelaySeconds,
          MessageAttributes,
        };
        const QueueUrl = queueUrl(place.name);
        await place.world.clients.sqs.send(new SendMessageCommand({ QueueUrl, ...message }));
      },
  );

/** Receives until nothing is visible. A message becomes a dead letter at its third receive. */
const receive: Step = async ({ world, name, handles }) => {
  const received: unknown[] = [];
  for (;;) {
    const { Messages = [] } = await world.clients.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl(name),
        VisibilityTimeout: LONG_SECONDS,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      }),
    );
    if (Messages.length === 0) return received.sort();
    for (const { Body = '', ReceiptHandle = '', MessageAttributes, Attributes } of Messages) {
      handles.set(Body, ReceiptHandle);
      received.push(JSON.stringify({ Body, MessageAttributes, Attributes }));
    }
  }
};

/** Settles a received message, possibly one that was settled before. */
const settle = fc.tuple(fc.constantFrom('delete', 'give back', 'extend'), fc.nat(10)).map(
  ([how, index]): Step =>
    async ({ world: { clients }, name, handles }) => {
      const bodies = [...handles.keys()].sort();
      const body = bodies[index % Math.max(bodies.length, 1)] ?? '';
      const which = { QueueUrl: queueUrl(name), ReceiptHandle: handles.get(body) };
      handles.delete(body);
      if (which.ReceiptHandle === undefined) return;
      const VisibilityTimeout = how === 'extend' ? LONG_SECONDS + 1 : 0;
      if (how === 'delete') await clients.sqs.send(new DeleteMessageCommand(which));
      else await clients.sqs.send(new ChangeMessageVisibilityCommand({ ...which, VisibilityTimeout }));
    },
);

const tag: Step = async ({ world, name }) => {
  await world.clients.sqs.send(new TagQueueCommand({ QueueUrl: queueUrl(name), Tags: { of: 'a test' } }));
};

test('after any operations on messages and a restart, each is where it was, with its receives and attributes', async () => {
  await expectSameAfterRestarts(
    async ({ world: { clients }, name }) => {
      await clients.sqs.send(new CreateQueueCommand({ QueueName: `${name}-dead` }));
      const deadLetterTargetArn = `arn:aws:sqs:eu-central-1:000000000000:${name}-dead`;
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
      await clients.sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: { RedrivePolicy } }));
    },
    fc.oneof(
      { weight: 4, arbitrary: send },
      { weight: 3, arbitrary: fc.constant(receive) },
      { weight: 4, arbitrary: settle },
      { weight: 1, arbitrary: fc.constant(tag) },
    ),
    async ({ world: { aws }, name }) => {
      const look = async (queue: string) =>
        (await aws.inspectQueue(queueUrl(queue)))
          .map(({ id: _id, sentAt: _sentAt, ...message }) => message)
          .sort((one, other) => one.body.localeCompare(other.body));
      return { waiting: await look(name), dead: await look(`${name}-dead`) };
    },
  );
});

const id = fc.constantFrom('a', 'b', 'ü\u0000\u{1f980}', 'd'.repeat(300));
const shop = fc.constantFrom('one', 'two');
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });

/** Some of the calls are rejected. */
const write = fc.oneof(
  fc.record({ id, shop, name: text, isFirst: fc.boolean() }).map(
    ({ isFirst, ...item }): Step =>
      async ({ world, name: TableName }) => {
        const Item = { id: { S: item.id }, shop: { S: item.shop }, name: { S: item.name } };
        const condition = isFirst && { ConditionExpression: 'attribute_not_exists(id)' };
        await world.clients.dynamodb.send(new PutItemCommand({ TableName, Item, ...condition }));
      },
  ),
  fc.tuple(id, shop).map(
    ([key, owner]): Step =>
      async ({ world, name: TableName }) => {
        await world.clients.dynamodb.send(
          new UpdateItemCommand({
            TableName,
            Key: { id: { S: key } },
            UpdateExpression: 'SET shop = :shop ADD times :one',
            ExpressionAttributeValues: { ':shop': { S: owner }, ':one': { N: '1' } },
          }),
        );
      },
  ),
  id.map(
    (key): Step =>
      async ({ world, name: TableName }) => {
        await world.clients.dynamodb.send(new DeleteItemCommand({ TableName, Key: { id: { S: key } } }));
      },
  ),
  fc.tuple(text, shop).map(
    ([name, owner]): Step =>
      async (place) => {
        const put = { PutRequest: { Item: { id: { S: 'a' }, name: { S: name }, shop: { S: owner } } } };
        const remove = { DeleteRequest: { Key: { id: { S: 'b' } } } };
        const RequestItems = { [place.name]: [put, remove] };
        await place.world.clients.dynamodb.send(new BatchWriteItemCommand({ RequestItems }));
      },
  ),
);

test('after any writes and a restart, a table and its index equal those of a stack that never stopped', async () => {
  await expectSameAfterRestarts(
    async ({ world, name: TableName }) => {
      await world.clients.dynamodb.send(
        new CreateTableCommand({
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
          AttributeDefinitions: [
            { AttributeName: 'id', AttributeType: 'S' },
            { AttributeName: 'shop', AttributeType: 'S' },
          ],
          GlobalSecondaryIndexes: [
            {
              IndexName: 'by-shop',
              KeySchema: [{ AttributeName: 'shop', KeyType: 'HASH' }],
              Projection: { ProjectionType: 'ALL' },
            },
          ],
        }),
      );
    },
    write,
    async ({ world: { clients }, name: TableName }) => {
      const query = async (owner: string) => {
        const KeyConditionExpression = 'shop = :shop';
        const ExpressionAttributeValues = { ':shop': { S: owner } };
        const input = { TableName, IndexName: 'by-shop', KeyConditionExpression, ExpressionAttributeValues };
        return (await clients.dynamodb.send(new QueryCommand(input))).Items;
      };
      const { Items: items } = await clients.dynamodb.send(new ScanCommand({ TableName }));
      return { items, one: await query('one'), two: await query('two') };
    },
  );
});

const Key = fc.constantFrom('a', 'folder/b', 'ü 🦀+&', 'folder/c');

const store = fc.oneof(
  fc
    .record({
      Key,
      bytes: fc.uint8Array({ maxLength: 200 }),
      times: fc.constantFrom(1, 20_000),
      isGzip: fc.boolean(),
    })
    .map(
      ({ Key, bytes, times, isGzip }): Step =>
        async ({ world, name: Bucket }) => {
          const whole = Buffer.concat(Array.from({ length: times }, () => bytes));
          await world.clients.s3.send(
            new PutObjectCommand({
              Bucket,
              Key,
              Body: isGzip ? gzipSync(whole) : whole,
              ContentType: isGzip ? 'application/json' : 'application/octet-stream',
              Metadata: { bytes: String(whole.length) },
              ...(isGzip && { ContentEncoding: 'gzip' }),
            }),
          );
        },
    ),
  Key.map(
    (Key): Step =>
      async ({ world, name: Bucket }) => {
        await world.clients.s3.send(new DeleteObjectCommand({ Bucket, Key }));
      },
  ),
);

test('after any writes and a restart, a bucket equals that of a stack that never stopped', async () => {
  await expectSameAfterRestarts(
    ({ world, name: Bucket }) => world.clients.s3.send(new CreateBucketCommand({ Bucket })),
    store,
    async ({ world: { clients }, name: Bucket }) => {
      const { Contents = [] } = await clients.s3.send(new ListObjectsV2Command({ Bucket }));
      return Promise.all(
        Contents.map(async ({ Key }) => {
          const { Body, ContentType, ContentEncoding, ContentLength, ETag, Metadata } = await clients.s3.send(
            new GetObjectCommand({ Bucket, Key }),
          );
          const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
          const hash = createHash('sha256').update(bytes).digest('hex');
          return { Key, hash, ContentType, ContentEncoding, ContentLength, ETag, Metadata };
        }),
      );
    },
  );
});
