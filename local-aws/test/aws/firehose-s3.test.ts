import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { InjectedFaults } from '../../aws/faults.ts';
import { evaluatedPrefix } from '../../aws/firehose/delivery-stream.ts';
import { objectsOf } from '../../aws/json.ts';
import { arnOf } from '../../aws/service-forms.ts';
import { type AwsCaller, awsCaller } from '../../aws-caller.ts';
import { eventually, type RawRequest, send, signedFor, startEndpoint } from '../support.ts';

const KIB = 1024;
const WRITER = 'arn:aws:iam::000000000000:role/writer';
const KEY = arnOf('kms', 'key/one');
const OTHER_KEY = arnOf('kms', 'key/other');

const problems: string[] = [];
const faults = new InjectedFaults();
let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let operator: AwsCaller;
/** A caller with the permissions of a function. */
let consumer: AwsCaller;
let buckets = 0;
let bucket: string;

beforeAll(async () => {
  endpoint = await startEndpoint({ faults, onProblem: (problem) => problems.push(problem) });
  const streams = arnOf('firehose', 'deliverystream/bucket-*');
  const statements = [
    { Effect: 'Allow' as const, Action: 'firehose:PutRecordBatch', Resource: streams },
    { Effect: 'Allow' as const, Action: ['kms:Decrypt', 'kms:GenerateDataKey'], Resource: KEY },
    { Effect: 'Allow' as const, Action: 'kms:GenerateDataKey', Resource: OTHER_KEY },
  ];
  endpoint.addPrincipals([{ name: 'Consumer', accessKeyId: 'AKIACONSUMER', statements }]);
  allowWriter();
  operator = awsCaller(endpoint.url, 'operator');
  consumer = awsCaller(endpoint.url, 'AKIACONSUMER');
});
afterAll(() => endpoint.close());

/** @param others names of further streams that the writer may use */
function allowWriter(...others: string[]): void {
  const Resource = ['arn:aws:s3:::*/event=*', ...others];
  const statements = [{ Effect: 'Allow' as const, Action: 's3:PutObject', Resource }];
  endpoint.addPrincipals([{ name: 'Writer', arn: WRITER, accessKeyId: 'AKIAWRITER', statements }]);
}

/** Each test has a bucket and a stream of its own, with the same names. */
beforeEach(async () => {
  buckets += 1;
  bucket = `bucket-${buckets}`;
  await operator.put(`/${bucket}`);
  await create();
});
afterEach(() => {
  faults.clear();
  problems.length = 0;
});

const create = (name = bucket, configuration: object = {}, KeyARN?: string, by = operator) =>
  by.json('firehose', 'CreateDeliveryStream', {
    DeliveryStreamName: name,
    ...(KeyARN && {
      DeliveryStreamEncryptionConfigurationInput: { KeyType: 'CUSTOMER_MANAGED_CMK', KeyARN },
    }),
    ExtendedS3DestinationConfiguration: {
      RoleARN: WRITER,
      BucketARN: `arn:aws:s3:::${bucket}`,
      Prefix: 'event=x/date=!{timestamp:yyyy-MM-dd}/hour=!{timestamp:HH}/',
      FileExtension: '.jsonl.gz',
      CompressionFormat: 'GZIP',
      ...configuration,
    },
  });

const put = (lines: readonly string[], by = operator, name = bucket) =>
  by.json('firehose', 'PutRecordBatch', {
    DeliveryStreamName: name,
    Records: lines.map((line) => ({ Data: Buffer.from(line).toString('base64') })),
  });

const s3 = ({ headers, path, ...rest }: RawRequest) =>
  send(endpoint, {
    method: 'GET',
    ...rest,
    path: `/${bucket}${path}`,
    headers: { authorization: signedFor('s3'), ...headers },
  });

async function keys(): Promise<string[]> {
  const { body } = await s3({ path: '?list-type=2' });
  return [...body.toString().matchAll(/<Key>([^<]*)/g)].map(([, key = '']) => key);
}

/**
 * Waits for the first object.
 * @returns all records delivered so far
 */
const delivered = () =>
  eventually(async () => {
    const found = await keys();
    if (found.length === 0) return undefined;
    const objects = found.map(async (key) => ({ key, ...(await s3({ path: `/${key}` })) }));
    return (await Promise.all(objects)).map(({ body, ...rest }) => ({
      ...rest,
      text: gunzipSync(body).toString(),
    }));
  });

const texts = async () => (await delivered()).map(({ text }) => text);

describe('records', () => {
  test('of a batch are one gzipped object of their bytes, with the prefix and name of Firehose', async () => {
    const [hour, otherHour] = [new Date(), new Date(Date.now() + 1_000)].map((time) => time.toISOString());
    await put(['{"a":1}\n', '{"b":"é"}\n']);
    const [first, ...others] = await delivered();
    expect(others).toEqual([]);
    const headers = { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' };
    expect(first).toMatchObject({ text: '{"a":1}\n{"b":"é"}\n', headers });
    expect(first?.key).toMatch(
      new RegExp(`/${bucket}-1-\\d{4}(-\\d{2}){5}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.jsonl\\.gz$`),
    );
    const partition = (time = '') => `event=x/date=${time.slice(0, 10)}/hour=${time.slice(11, 13)}/`;
    expect([partition(hour), partition(otherHour)]).toContain(first?.key.replace(/[^/]+$/, ''));
  });

  test('in the buffer are delivered when the endpoint closes', async () => {
    const reported: string[] = [];
    const other = await startEndpoint({ onProblem: (problem) => reported.push(problem) });
    const by = awsCaller(other.url, 'operator');
    await create('last', { BucketARN: 'arn:aws:s3:::none' }, undefined, by);
    await put(['x'], by, 'last');
    await other.close();
    // The bucket is gone, so only this report shows that the write was tried.
    expect(reported).toEqual([
      `Delivery stream last: Firehose is unable to assume role ${WRITER}`,
      'Delivery stream last: 1 records were never delivered to none',
    ]);
  });
});

test('a call may have 4 MiB in 500 records. A larger call is refused completely', async () => {
  const records = Array.from({ length: 500 }, (_, index) => 'x'.repeat(index < 4 ? 1_000 * KIB : 198));
  const rest = 4 * KIB * KIB - records.join('').length;
  records[4] = 'x'.repeat(198 + rest);
  const answer = await put(records);
  const ids = new Set(objectsOf(answer, 'RequestResponses').map(({ RecordId }) => RecordId));
  expect([answer.FailedPutCount, ids.size]).toEqual([0, 500]);
  records[5] += 'x';
  await expect(put(records)).rejects.toThrow('InvalidArgumentException: Records size exceeds 4 MB limit');
});

test.each<[what: string, code: string, call: () => Promise<unknown>]>([
  ['records for no stream', 'ResourceNotFoundException', () => put(['x'], operator, 'none')],
  ['another format', 'InvalidArgumentException', () => create('refused', { CompressionFormat: 'ZIP' })],
  [
    'an unknown prefix',
    'InvalidArgumentException',
    () => create('refused', { Prefix: '!{firehose:random-string}/' }),
  ],
])('Firehose refuses %s with %s', async (_what, code, call) => {
  await expect(call()).rejects.toThrow(code);
});

describe('permissions', () => {
  test("include generating a data key and decrypting, for a stream with a customer's key", async () => {
    await create(`${bucket}-under-key`, {}, KEY);
    await put(['mine'], consumer, `${bucket}-under-key`);
    await create(`${bucket}-under-other`, {}, OTHER_KEY);
    const refused = put(['not mine'], consumer, `${bucket}-under-other`);
    await expect(refused).rejects.toThrow('InvalidKMSResourceException');
    expect(await texts()).toEqual(['mine']);
  });

  test("are checked for the stream's role: without them its records are kept and reported as late", async () => {
    await create(`${bucket}-astray`, { Prefix: 'elsewhere/' });
    await put(['late\n'], operator, `${bucket}-astray`);
    await eventually(async () => (problems.length > 0 ? true : undefined));
    expect(problems).toEqual([
      expect.stringMatching(`^Delivery stream ${bucket}-astray: User: .*Writer.* perform: s3:PutObject on`),
    ]);
    expect(await keys()).toEqual([]);
    allowWriter(`arn:aws:s3:::${bucket}/elsewhere/*`);
    expect(await texts()).toEqual(['late\n']);
  });
});

test('a fault rejects some records of a call and accepts the others', async () => {
  faults.inject({ service: 'firehose', kind: 'records-refused', every: 3 });
  const taken = { RecordId: expect.any(String) };
  const refused = { ErrorCode: 'ServiceUnavailableException', ErrorMessage: 'Slow down.' };
  expect(await put(['1', '2', '3', '4', '5', '6', '7'], consumer)).toMatchObject({
    FailedPutCount: 2,
    RequestResponses: [taken, taken, refused, taken, taken, refused, taken],
  });
  expect(faults.active).toMatchObject([{ hits: 1 }]);
  expect(await texts()).toEqual(['12457']);
  await expect(put(['8', '9', '10'], consumer, 'bucket-none')).rejects.toThrow('not found');
});

describe('an object of S3', () => {
  const store = (path: string, body: string | Buffer, headers = {}) =>
    s3({ method: 'PUT', path, body, headers });
  const get = async (path: string) => (await s3({ path })).body.toString('latin1');

  test('may have up to 16 MB, sent after 100-continue', async () => {
    const large = randomBytes(16_000_000);
    expect(await store('/large', large, { expect: '100-continue' })).toMatchObject({ status: 200 });
    const { headers } = await s3({ method: 'HEAD', path: '/large' });
    expect(headers['content-length']).toBe('16000000');
    expect((await get('/large')) === large.toString('latin1')).toBe(true);
    const { status, body } = await store('/huge', Buffer.alloc(17_000_000));
    expect(status).toBe(400);
    expect(body.toString()).toContain('<Code>EntityTooLarge</Code>');
  });

  test('is created once, by one of several at the same time, if the condition is that it does not exist', async () => {
    const bodies = ['one', 'two', 'three'];
    const answers = await Promise.all(bodies.map((body) => store('/first', body, { 'if-none-match': '*' })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 412, 412]);
    expect(await get('/first')).toBe(bodies[statuses.indexOf(200)]);
  });

  test('is replaced only if it has the tag of the condition', async () => {
    const { headers } = await store('/conditional', 'first');
    const statusIf = async (path: string, tag: unknown) =>
      (await store(path, 'second', { 'if-match': String(tag) })).status;
    const other = '"0123456789abcdef0123456789abcdef"';
    expect(await statusIf('/conditional', other)).toBe(412);
    expect(await get('/conditional')).toBe('first');
    expect(await statusIf('/conditional', headers.etag)).toBe(200);
    expect(await get('/conditional')).toBe('second');
    expect(await statusIf('/absent', other)).toBe(404);
  });
});

test('a prefix without an expression gets the time that Firehose adds', () => {
  const time = new Date('2026-01-31T09:08:07Z');
  expect(evaluatedPrefix('all/', time)).toBe('all/2026/01/31/09/');
  expect(evaluatedPrefix('!{timestamp:yyyy/HH:mm:ss}/', time)).toBe('2026/09:08:07/');
});
