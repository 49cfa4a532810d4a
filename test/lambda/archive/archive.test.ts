import { FirehoseClient } from '@aws-sdk/client-firehose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { InjectedFaults } from 'local-aws/endpoint';
import { Archive, NotArchivedError, TooLargeToArchiveError } from '../../../lambda/archive/archive.ts';
import type { ArchiveRecord } from '../../../lambda/archive/record.ts';
import { MAX_RECORD_BYTES } from '../../../lambda/limits.ts';
import { ArchiveBucket } from '../../support/archive.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';
import { startHttpRecorder } from '../http-recorder.ts';

const faults = new InjectedFaults();
let aws: TestAws;
let archive: Archive;
let bucket: ArchiveBucket;
let tests = 0;

beforeAll(async () => {
  aws = await startTestAws(faults);
  bucket = new ArchiveBucket(aws.outputs.ArchiveBucket, aws.operator);
  const client = new FirehoseClient({ ...aws.operator, maxAttempts: 1 });
  archive = new Archive(client, aws.outputs.ShopUpdatedArchiveStream ?? '');
});
beforeEach(() => {
  tests += 1;
});
afterEach(() => faults.clear());
afterAll(() => aws.close());

/**
 * A record of this test.
 * @param body is padded until the line has this many bytes.
 * @default a short body
 */
function record(index: number, bytes = 0): ArchiveRecord {
  const short: ArchiveRecord = {
    eventId: `event-${tests}-${index}`,
    event: 'shop.updated',
    receivedAt: '2026-01-31T09:00:00.000Z',
    outcome: 'Processed',
    attempt: 1,
    settledAt: '2026-01-31T09:00:01.000Z',
    body: '',
  };
  const length = Buffer.byteLength(`${JSON.stringify(short)}\n`);
  return { ...short, body: 'x'.repeat(Math.max(0, bytes - length)) };
}

/** Positions of this test's records in the bucket, when there are this many. */
const archived = (count: number) =>
  eventually(async () => {
    const own = (await bucket.records()).filter(({ eventId }) => eventId.startsWith(`event-${tests}-`));
    return own.length === count ? own.map(({ eventId }) => Number(eventId.split('-')[2])).sort() : undefined;
  });

/**
 * Archives records with a Firehose that answers with these results.
 * @returns the failures, and each request's bytes
 */
async function putTo(records: readonly ArchiveRecord[], results: (count: number) => object[]) {
  const firehose = await startHttpRecorder(({ body }) => ({
    status: 200,
    body: JSON.stringify({ FailedPutCount: 0, RequestResponses: results(JSON.parse(body).Records.length) }),
  }));
  try {
    const client = new FirehoseClient({ ...aws.operator, endpoint: firehose.url });
    const failures = await new Archive(client, 'n'.repeat(64)).put(records);
    return { failures, bytes: firehose.requests.map(({ body }) => Buffer.byteLength(body)) };
  } finally {
    await firehose.close();
  }
}

const accepted = (count: number) => Array.from({ length: count }, () => ({ RecordId: 'r' }));

test('a request has at most 4 MiB, with base64 and the JSON around the records', async () => {
  const limit = 4 * 1024 * 1024;
  const bytesOf = async (sizes: readonly number[]) => {
    const records = sizes.map((bytes, index) => record(index, bytes));
    return (await putTo(records, accepted)).bytes;
  };
  const full = Array(3).fill(MAX_RECORD_BYTES);
  const [bytes = 0] = await bytesOf([...full, 300]);
  // Base64 has four characters for three bytes.
  const last = 300 + 3 * Math.floor((limit - bytes) / 4);
  const [largest] = await bytesOf([...full, last]);
  expect(largest).toBeGreaterThan(limit - 4);
  expect(largest).toBeLessThanOrEqual(limit);
  expect(await bytesOf([...full, last + 3])).toHaveLength(2);
});

test('a batch that is too large for one call is split', async () => {
  const records = Array.from({ length: 5 }, (_, index) => record(index, MAX_RECORD_BYTES));
  expect(await archive.put(records)).toEqual(Array(5).fill(undefined));
  expect(await archived(5)).toEqual([0, 1, 2, 3, 4]);
});

describe('records that were not archived are reported by index', () => {
  test('if Firehose rejects single records', async () => {
    faults.inject({ service: 'firehose', kind: 'records-refused', every: 2, callers: 'everyone' });
    const failures = await archive.put([0, 1, 2, 3, 4].map((index) => record(index)));
    const refused = new NotArchivedError('ServiceUnavailableException');
    expect(failures).toEqual([undefined, refused, undefined, refused, undefined]);
    expect(await archived(3)).toEqual([0, 2, 4]);
  });

  test('if a record is larger than Firehose accepts', async () => {
    const failures = await archive.put([
      record(0),
      record(1, MAX_RECORD_BYTES + 1),
      record(2, MAX_RECORD_BYTES),
    ]);
    expect(failures).toEqual([
      undefined,
      new TooLargeToArchiveError('1024001 bytes as a record, more than the maximum of 1024000'),
      undefined,
    ]);
    expect(await archived(2)).toEqual([0, 2]);
  });

  test('if one of several calls fails', async () => {
    faults.inject({ service: 'firehose', kind: 'throttled', every: 2, callers: 'everyone' });
    const failures = await archive.put([0, 1, 2, 3].map((index) => record(index, MAX_RECORD_BYTES)));
    const names = failures.map((failure) => failure?.name ?? 'archived');
    // Three records fill a call. The order of the two calls is not fixed.
    expect([
      ['archived', 'archived', 'archived', 'ServiceUnavailableException'],
      [...Array(3).fill('ServiceUnavailableException'), 'archived'],
    ]).toContainEqual(names);
  });

  test('if Firehose does not say what became of them', async () => {
    const { failures } = await putTo([record(0), record(1)], () => accepted(1));
    expect(failures).toEqual([undefined, new NotArchivedError('NoAnswer')]);
  });

  test('if all calls fail', async () => {
    faults.inject({ service: 'firehose', kind: 'down', callers: 'everyone' });
    const failures = await archive.put([record(0), record(1)]);
    expect(failures.map((failure) => failure?.message)).toEqual([
      expect.stringContaining('socket hang up'),
      expect.stringContaining('socket hang up'),
    ]);
  });
});

test('no stream in the environment means no archive', () => {
  delete process.env.ARCHIVE_STREAM;
  expect(Archive.fromEnvironment()).toBeUndefined();
});
