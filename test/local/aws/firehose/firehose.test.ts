import { gunzipSync } from 'node:zlib';
import {
  CreateDeliveryStreamCommand,
  DescribeDeliveryStreamCommand,
  FirehoseClient,
  ListDeliveryStreamsCommand,
  PutRecordBatchCommand,
  PutRecordCommand,
} from '@aws-sdk/client-firehose';
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AwsEndpoint, startAwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { Faults } from '../../../../local/aws/faults.ts';
import { evaluatedPrefix } from '../../../../local/aws/firehose/delivery-stream.ts';
import { eventually } from '../../../support/eventually.ts';
import { send, signedFor } from '../support.ts';

const KIB = 1024;
const WRITER = 'arn:aws:iam::000000000000:role/writer';
const KEY = 'arn:aws:kms:eu-central-1:000000000000:key/one';
const OTHER_KEY = 'arn:aws:kms:eu-central-1:000000000000:key/other';

const problems: string[] = [];
const faults = new Faults();
let endpoint: AwsEndpoint;
let s3: S3Client;
let firehose: FirehoseClient;
let buckets = 0;
let bucket: string;

const settings = (accessKeyId: string) => ({
  endpoint: endpoint.url,
  region: 'eu-central-1',
  maxAttempts: 1,
  credentials: { accessKeyId, secretAccessKey: 'any' },
});

const start = () =>
  startAwsEndpoint({
    port: 0,
    region: 'eu-central-1',
    faults,
    onProblem: (problem) => problems.push(problem),
  });

beforeAll(async () => {
  endpoint = await start();
  endpoint.addPrincipals([
    {
      name: 'Writer',
      arn: WRITER,
      accessKeyId: 'AKIAWRITER',
      statements: [{ Effect: 'Allow', Action: 's3:PutObject', Resource: 'arn:aws:s3:::*/event=*' }],
    },
    {
      name: 'Consumer',
      accessKeyId: 'AKIACONSUMER',
      statements: [
        {
          Effect: 'Allow',
          Action: 'firehose:PutRecordBatch',
          Resource: 'arn:aws:firehose:eu-central-1:000000000000:deliverystream/bucket-*',
        },
        { Effect: 'Allow', Action: ['kms:Decrypt', 'kms:GenerateDataKey'], Resource: KEY },
        { Effect: 'Allow', Action: 'kms:GenerateDataKey', Resource: OTHER_KEY },
      ],
    },
  ]);
  s3 = new S3Client({ ...settings('operator'), forcePathStyle: true });
  firehose = new FirehoseClient(settings('operator'));
});
afterAll(() => endpoint.close());

/** Each test has a bucket and a stream of its own, of the same name. */
beforeEach(async () => {
  buckets += 1;
  bucket = `bucket-${buckets}`;
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  await create();
});
afterEach(() => {
  faults.clear();
  problems.length = 0;
});

const create = (name = bucket, configuration: object = {}, key?: string) =>
  firehose.send(
    new CreateDeliveryStreamCommand({
      DeliveryStreamName: name,
      ...(key !== undefined && {
        DeliveryStreamEncryptionConfigurationInput: { KeyType: 'CUSTOMER_MANAGED_CMK', KeyARN: key },
      }),
      DeliveryStreamType: 'DirectPut',
      ExtendedS3DestinationConfiguration: {
        RoleARN: WRITER,
        BucketARN: `arn:aws:s3:::${bucket}`,
        Prefix: 'event=x/date=!{timestamp:yyyy-MM-dd}/hour=!{timestamp:HH}/',
        FileExtension: '.jsonl.gz',
        CompressionFormat: 'GZIP',
        ...configuration,
      },
    }),
  );

const put = (lines: readonly string[], client = firehose, name = bucket) =>
  client.send(
    new PutRecordBatchCommand({
      DeliveryStreamName: name,
      Records: lines.map((line) => ({ Data: Buffer.from(line) })),
    }),
  );

async function keys(): Promise<string[]> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key = '' }) => Key);
}

/** All that was delivered, once there is something. */
const delivered = () =>
  eventually(async () => {
    const found = await keys();
    if (found.length === 0) return undefined;
    return Promise.all(
      found.map(async (Key) => {
        const object = await s3.send(new GetObjectCommand({ Bucket: bucket, Key }));
        const body = await object.Body?.transformToByteArray();
        return { key: Key, text: gunzipSync(body ?? Buffer.alloc(0)).toString(), object };
      }),
    );
  });

describe('records', () => {
  test('of a moment are one gzipped object of their bytes', async () => {
    await put(['{"a":1}\n', '{"b":"é"}\n']);
    await firehose.send(
      new PutRecordCommand({ DeliveryStreamName: bucket, Record: { Data: Buffer.from('{"c":3}\n') } }),
    );
    const [first, ...others] = await delivered();
    expect(others).toEqual([]);
    expect(first?.text).toBe('{"a":1}\n{"b":"é"}\n{"c":3}\n');
    expect(first?.object).toMatchObject({
      ContentType: 'application/octet-stream',
      ContentEncoding: 'gzip',
    });
  });

  test('are under the prefix and the name that Firehose gives them', async () => {
    const [hour, otherHour] = [new Date(), new Date(Date.now() + 1_000)].map((time) => time.toISOString());
    await put(['x']);
    const [object] = await delivered();
    expect(object?.key).toMatch(
      new RegExp(
        `^event=x/date=\\d{4}-\\d{2}-\\d{2}/hour=\\d{2}/${bucket}-1-\\d{4}(-\\d{2}){5}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.jsonl\\.gz$`,
      ),
    );
    const partition = (time = '') => `event=x/date=${time.slice(0, 10)}/hour=${time.slice(11, 13)}/`;
    expect([partition(hour), partition(otherHour)]).toContain(object?.key.replace(/[^/]+$/, ''));
  });

  test('that come later are in an object of their own', async () => {
    await put(['1\n']);
    await delivered();
    await put(['2\n']);
    const texts = await eventually(async () => {
      const found = await delivered();
      return found.length === 2 ? found.map(({ text }) => text) : undefined;
    });
    expect(texts.sort()).toEqual(['1\n', '2\n']);
  });

  test('are left as they are where the stream does not compress', async () => {
    await create(`${bucket}-plain`, { CompressionFormat: 'UNCOMPRESSED', FileExtension: undefined });
    await put(['plain'], firehose, `${bucket}-plain`);
    const [Key = ''] = await eventually(async () => ((await keys()).length > 0 ? await keys() : undefined));
    const { Body, ContentEncoding } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key }));
    expect([await Body?.transformToString(), ContentEncoding]).toEqual(['plain', undefined]);
  });

  test('that are on their way are delivered when the endpoint closes', async () => {
    const problem: string[] = [];
    const other = await startAwsEndpoint({
      port: 0,
      region: 'eu-central-1',
      onProblem: (message) => problem.push(message),
    });
    const client = new FirehoseClient({ ...settings('operator'), endpoint: other.url });
    await client.send(
      new CreateDeliveryStreamCommand({
        DeliveryStreamName: 'last',
        ExtendedS3DestinationConfiguration: { RoleARN: WRITER, BucketARN: 'arn:aws:s3:::none' },
      }),
    );
    await put(['x'], client, 'last');
    await other.close();
    // The attempt shows in its failure: nobody can look into the bucket any more.
    expect(problem).toEqual([
      `Delivery stream last: Firehose is unable to assume role ${WRITER}`,
      'Delivery stream last: 1 records were never delivered to none',
    ]);
  });
});

describe('the limits of Firehose', () => {
  const lineOf = (bytes: number) => 'x'.repeat(bytes);

  test('let a record of 1,000 KiB and a call of 4 MiB pass', async () => {
    const lines = [...Array.from({ length: 4 }, () => lineOf(1_000 * KIB)), lineOf(96 * KIB)];
    expect(await put(lines)).toMatchObject({ FailedPutCount: 0 });
  });

  test.each([
    [
      'a larger record',
      () => [lineOf(10), lineOf(1_000 * KIB + 1)],
      'ValidationException',
      'records.2.member.data',
    ],
    [
      'a larger call',
      () => [...Array.from({ length: 4 }, () => lineOf(1_000 * KIB)), lineOf(96 * KIB), 'x'],
      'InvalidArgumentException',
      'Records size exceeds 4 MB limit',
    ],
    [
      'more than 500 records',
      () => Array.from({ length: 501 }, () => 'x'),
      'ValidationException',
      'length less than or equal to 500',
    ],
    ['no record', () => [], 'ValidationException', 'length greater than or equal to 1'],
  ])('refuse %s as a whole', async (_what, lines, name, message) => {
    await expect(put(lines())).rejects.toMatchObject({ name, message: expect.stringContaining(message) });
    await put(['after']);
    expect((await delivered()).map(({ text }) => text)).toEqual(['after']);
  });

  test('let 500 records pass', async () => {
    const { RequestResponses = [] } = await put(Array.from({ length: 500 }, () => 'x'));
    expect(new Set(RequestResponses.map(({ RecordId }) => RecordId)).size).toBe(500);
  });

  test('refuse a record without data', async () => {
    const answer = await send(endpoint, {
      headers: { authorization: signedFor('firehose'), 'x-amz-target': 'Firehose_20150804.PutRecord' },
      body: JSON.stringify({ DeliveryStreamName: bucket, Record: {} }),
    });
    expect([answer.status, JSON.parse(answer.body.toString()).__type]).toEqual([400, 'ValidationException']);
  });
});

describe('a stream', () => {
  test('that is unknown is said to be so', async () => {
    await expect(put(['x'], firehose, 'none')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: 'Firehose none under account 000000000000 not found.',
    });
  });

  test('tells how long it would buffer in AWS', async () => {
    const hints = { IntervalInSeconds: 900, SizeInMBs: 64 };
    await create(`${bucket}-hints`, { BufferingHints: hints });
    const { DeliveryStreamDescription } = await firehose.send(
      new DescribeDeliveryStreamCommand({ DeliveryStreamName: `${bucket}-hints` }),
    );
    expect(DeliveryStreamDescription).toMatchObject({
      DeliveryStreamARN: `arn:aws:firehose:eu-central-1:000000000000:deliverystream/${bucket}-hints`,
      DeliveryStreamStatus: 'ACTIVE',
      CreateTimestamp: expect.any(Date),
      Destinations: [
        {
          ExtendedS3DestinationDescription: {
            BufferingHints: hints,
            BucketARN: `arn:aws:s3:::${bucket}`,
            CompressionFormat: 'GZIP',
          },
        },
      ],
    });
  });

  test('is listed, a page at a time', async () => {
    const all: string[] = [];
    for (;;) {
      const { DeliveryStreamNames = [], HasMoreDeliveryStreams } = await firehose.send(
        new ListDeliveryStreamsCommand({ Limit: 2, ExclusiveStartDeliveryStreamName: all.at(-1) }),
      );
      all.push(...DeliveryStreamNames);
      if (!HasMoreDeliveryStreams) break;
    }
    expect(all).toContain(bucket);
    expect(all).toEqual([...new Set(all)].sort());
  });

  test.each([
    ['is there already', () => create(), 'ResourceInUseException'],
    ['has no name', () => create(''), 'InvalidArgumentException'],
    ['has a name that is too long', () => create('x'.repeat(65)), 'InvalidArgumentException'],
    [
      'is compressed in another way',
      () => create('zip', { CompressionFormat: 'ZIP' }),
      'InvalidArgumentException',
    ],
    [
      'has a prefix that is not understood here',
      () => create('prefix', { Prefix: '!{firehose:random-string}/' }),
      'InvalidArgumentException',
    ],
  ])('that %s is not created', async (_what, creation, name) => {
    await expect(creation()).rejects.toMatchObject({ name });
  });
});

describe('rights', () => {
  test('are asked of who puts records, by stream', async () => {
    const consumer = new FirehoseClient(settings('AKIACONSUMER'));
    await put(['mine'], consumer);
    await create(`other-${bucket}`);
    await expect(put(['not mine'], consumer, `other-${bucket}`)).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining('firehose:PutRecordBatch'),
    });
    await expect(consumer.send(new ListDeliveryStreamsCommand({}))).rejects.toMatchObject({
      name: 'AccessDeniedException',
    });
    expect((await delivered()).map(({ text }) => text)).toEqual(['mine']);
  });

  test("are asked of who puts records into a stream under a customer's key: to generate a data key and to decrypt", async () => {
    const consumer = new FirehoseClient(settings('AKIACONSUMER'));
    await create(`${bucket}-under-key`, {}, KEY);
    await put(['mine'], consumer, `${bucket}-under-key`);
    await create(`${bucket}-under-other`, {}, OTHER_KEY);
    await expect(put(['not mine'], consumer, `${bucket}-under-other`)).rejects.toMatchObject({
      name: 'InvalidKMSResourceException',
    });
    expect((await delivered()).map(({ text }) => text)).toEqual(['mine']);
  });

  test("are asked of the stream's role: without them its records are kept and said to be late", async () => {
    await create(`${bucket}-astray`, { Prefix: 'elsewhere/' });
    await put(['late\n'], firehose, `${bucket}-astray`);
    await eventually(async () => (problems.length > 0 ? true : undefined));
    expect(problems).toEqual([
      expect.stringMatching(`^Delivery stream ${bucket}-astray: User: .*Writer.* perform: s3:PutObject on`),
    ]);
    expect(await keys()).toEqual([]);
    endpoint.addPrincipals([
      {
        name: 'Writer',
        arn: WRITER,
        accessKeyId: 'AKIAWRITER',
        statements: [{ Effect: 'Allow', Action: 's3:PutObject', Resource: '*' }],
      },
    ]);
    expect((await delivered()).map(({ text }) => text)).toEqual(['late\n']);
  });
});

describe('faults', () => {
  const byRole = () => new FirehoseClient(settings('AKIACONSUMER'));

  test('throttle as Firehose does', async () => {
    faults.inject({ service: 'firehose', kind: 'throttled' });
    await expect(put(['x'], byRole())).rejects.toMatchObject({
      name: 'ServiceUnavailableException',
      $metadata: { httpStatusCode: 503 },
    });
  });

  test('lose an answer, not the records', async () => {
    faults.inject({ service: 'firehose', kind: 'response-lost' });
    await expect(put(['x'], byRole())).rejects.toThrow('socket hang up');
    expect((await delivered()).map(({ text }) => text)).toEqual(['x']);
  });

  test('refuse some of the records of a call and take the others', async () => {
    faults.inject({ service: 'firehose', kind: 'records-refused', every: 3 });
    const { FailedPutCount, RequestResponses = [] } = await put(
      ['1', '2', '3', '4', '5', '6', '7'],
      byRole(),
    );
    expect(FailedPutCount).toBe(2);
    expect(RequestResponses.map(({ ErrorCode }) => ErrorCode ?? 'taken')).toEqual([
      'taken',
      'taken',
      'ServiceUnavailableException',
      'taken',
      'taken',
      'ServiceUnavailableException',
      'taken',
    ]);
    expect(RequestResponses.map(({ RecordId }) => RecordId === undefined)).toEqual(
      RequestResponses.map(({ ErrorCode }) => ErrorCode !== undefined),
    );
    expect(faults.counts['records-refused']).toBe(1);
    expect((await delivered()).map(({ text }) => text)).toEqual(['12457']);
  });

  test('refuse all records of a call', async () => {
    faults.inject({ service: 'firehose', kind: 'records-refused' });
    const { FailedPutCount } = await put(['1', '2'], byRole());
    expect(FailedPutCount).toBe(2);
  });

  test('of single records are of no other call', async () => {
    faults.inject({ service: 'firehose', kind: 'records-refused', callers: 'everyone' });
    const Record = { Data: Buffer.from('x') };
    await firehose.send(new PutRecordCommand({ DeliveryStreamName: bucket, Record }));
    expect((await delivered()).map(({ text }) => text)).toEqual(['x']);
    const refused = { service: 'sqs', kind: 'records-refused' } as const;
    expect(() => faults.inject(refused)).toThrow("'records-refused' is of Firehose's PutRecordBatch");
  });
});

test('a prefix without an expression gets the time that Firehose adds', () => {
  const time = new Date('2026-01-31T09:08:07Z');
  expect(evaluatedPrefix('all/', time)).toBe('all/2026/01/31/09/');
  expect(evaluatedPrefix("!{timestamp:yyyy/'at 'HH:mm:ss}/", time)).toBe('2026/at 09:08:07/');
});
