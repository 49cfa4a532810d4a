import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import {
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  PublishCommand,
  SubscribeCommand,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns';
import { CreateQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { startEndpoint } from '../support.ts';
import { clientsAt, KeptEndpoint } from './kept-endpoint.ts';

/** The least that S3 takes as a part that is not the last one. */
const PART_BYTES = 5 * 1024 * 1024;

let endpoint: KeptEndpoint;
/** Gets the same calls, and never stops. */
let oracle: AwsEndpoint;

beforeAll(async () => {
  endpoint = await KeptEndpoint.start();
  oracle = await startEndpoint();
});

afterAll(async () => {
  await endpoint[Symbol.asyncDispose]();
  await oracle.close();
});

type Step = (client: S3Client, bucket: string) => Promise<unknown>;

const key = fc.constantFrom('a', 'folder/b', 'ü 🦀+&', 'folder/c');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(key, fc.uint8Array({ maxLength: 200 }), fc.constantFrom(1, 1, 1, 20_000), fc.boolean())
    .map(([Key, bytes, times, isGzip]): Step => {
      const whole = Buffer.concat(Array.from({ length: times }, () => bytes));
      return (client, Bucket) =>
        client.send(
          new PutObjectCommand({
            Bucket,
            Key,
            Body: isGzip ? gzipSync(whole) : whole,
            ContentType: isGzip ? 'application/json' : 'application/octet-stream',
            Metadata: { bytes: String(whole.length) },
            ...(isGzip && { ContentEncoding: 'gzip' }),
          }),
        );
    }),
  key.map(
    (Key): Step =>
      (client, Bucket) =>
        client.send(new DeleteObjectCommand({ Bucket, Key })),
  ),
);
const life = fc.array(step, { minLength: 2, maxLength: 12 });

/** Every object with its bytes and what is said of it. */
async function contentOf(client: S3Client, Bucket: string) {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  return Promise.all(
    Contents.map(async ({ Key }) => {
      const { Body, ContentType, ContentEncoding, ContentLength, ETag, Metadata } = await client.send(
        new GetObjectCommand({ Bucket, Key }),
      );
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
      const hash = createHash('sha256').update(bytes).digest('hex');
      return { Key, hash, ContentType, ContentEncoding, ContentLength, ETag, Metadata };
    }),
  );
}

let buckets = 0;

test('whatever was written: after a restart a bucket has what one has that never stopped', async () => {
  const { s3: unharmed } = clientsAt(oracle.url);
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 2 }), async (lives) => {
      buckets += 1;
      const Bucket = `bucket-${buckets}`;
      for (const client of [endpoint.clients.s3, unharmed]) {
        await client.send(new CreateBucketCommand({ Bucket }));
      }
      for (const steps of lives) {
        for (const run of steps) {
          await run(endpoint.clients.s3, Bucket);
          await run(unharmed, Bucket);
        }
        await endpoint.restart();
        expect(await contentOf(endpoint.clients.s3, Bucket)).toEqual(await contentOf(unharmed, Bucket));
      }
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test('an upload in parts goes on after a restart, and is there as a whole', async () => {
  const object = { Bucket: 'in-parts', Key: 'large' };
  await endpoint.clients.s3.send(new CreateBucketCommand({ Bucket: object.Bucket }));
  const { UploadId } = await endpoint.clients.s3.send(new CreateMultipartUploadCommand(object));
  const upload = (PartNumber: number, Body: Buffer) =>
    endpoint.clients.s3.send(new UploadPartCommand({ ...object, UploadId, PartNumber, Body }));
  const first = await upload(1, Buffer.alloc(PART_BYTES, 'a'));
  await endpoint.restart();
  const second = await upload(2, Buffer.from('the end'));
  const Parts = [first, second].map(({ ETag }, index) => ({ PartNumber: index + 1, ETag }));
  await endpoint.clients.s3.send(
    new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload: { Parts } }),
  );
  await endpoint.restart();
  const { Body } = await endpoint.clients.s3.send(new GetObjectCommand(object));
  expect(await Body?.transformToString()).toBe(`${'a'.repeat(PART_BYTES)}the end`);
});

test('subscriptions are there after a restart, and those that ended are not', async () => {
  const { sqs, sns } = endpoint.clients;
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'subscribed' }));
  const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: 'topic' }));
  const subscribe = async (name: string) => {
    const { SubscriptionArn } = await sns.send(
      new SubscribeCommand({
        TopicArn,
        Protocol: 'sqs',
        Endpoint: `arn:aws:sqs:eu-central-1:000000000000:${name}`,
        Attributes: { RawMessageDelivery: 'true' },
      }),
    );
    return SubscriptionArn;
  };
  const kept = await subscribe('subscribed');
  await sns.send(new UnsubscribeCommand({ SubscriptionArn: await subscribe('other') }));

  await endpoint.restart();
  const { Subscriptions = [] } = await endpoint.clients.sns.send(
    new ListSubscriptionsByTopicCommand({ TopicArn }),
  );
  expect(Subscriptions.map(({ SubscriptionArn }) => SubscriptionArn)).toEqual([kept]);
  const { Attributes } = await endpoint.clients.sns.send(
    new GetSubscriptionAttributesCommand({ SubscriptionArn: kept }),
  );
  expect(Attributes).toMatchObject({ RawMessageDelivery: 'true' });

  await endpoint.clients.sns.send(new PublishCommand({ TopicArn, Message: 'to whom it may concern' }));
  await endpoint.restart();
  const { Messages } = await endpoint.clients.sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  expect(Messages).toMatchObject([{ Body: 'to whom it may concern' }]);
});
