import { expect, test } from '@jest/globals';
import {
  Archive,
  archiveLine,
  NotArchivedError,
  TooLargeToArchiveError,
} from '../../../lambda/archive/archive.ts';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import { MAX_RECORD_BYTES, RECORD_RESERVE_BYTES } from '../../../lambda/limits.ts';
import { type RecorderAnswer, startHttpRecorder } from '../http-recorder.ts';

/**
 * A record whose line has this many bytes.
 * @default a short body
 */
function record(index: number, bytes = 0): ArchiveRecord {
  const short: ArchiveRecord = {
    eventId: `event-${index}`,
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

/** Firehose's answer with a result for each record. */
const answering = (results: readonly object[]): RecorderAnswer => ({
  status: 200,
  body: JSON.stringify({ FailedPutCount: 0, RequestResponses: results }),
});
const accepted = (count: number) => answering(Array.from({ length: count }, () => ({ RecordId: 'r' })));

/**
 * Archives records.
 * @param answer Firehose's, to a call with this many records
 * @returns the failures, each request's bytes, and the ids of the records that were sent
 */
async function put(records: readonly ArchiveRecord[], answer: (count: number) => RecorderAnswer = accepted) {
  const firehose = await startHttpRecorder(({ body }) => answer(JSON.parse(body).Records.length));
  try {
    const key = { AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' };
    Object.assign(process.env, { AWS_ENDPOINT_URL: firehose.url, AWS_REGION: 'us-east-1', ...key });
    const failures = await new Archive('n'.repeat(64)).put(records);
    const bodies = firehose.requests.map(({ body }) => body);
    const sent = bodies
      .flatMap((body): { Data: string }[] => JSON.parse(body).Records)
      .map(({ Data }) => JSON.parse(Buffer.from(Data, 'base64').toString()).eventId);
    return { failures, bytes: bodies.map((body) => Buffer.byteLength(body)), sent: sent.sort() };
  } finally {
    await firehose.close();
  }
}

test('a request has at most 4 MiB, with base64 and the JSON around the records', async () => {
  const limit = 4 * 1024 * 1024;
  const bytesOf = async (sizes: readonly number[]) =>
    (await put(sizes.map((bytes, index) => record(index, bytes)))).bytes;
  const full = Array(3).fill(MAX_RECORD_BYTES);
  const [bytes = 0] = await bytesOf([...full, 300]);
  // Base64 has four characters for three bytes.
  const last = 300 + 3 * Math.floor((limit - bytes) / 4);
  const [largest] = await bytesOf([...full, last]);
  expect(largest).toBeGreaterThan(limit - 4);
  expect(largest).toBeLessThanOrEqual(limit);
  expect(await bytesOf([...full, last + 3])).toHaveLength(2);
});

test('records that Firehose rejects, or does not answer, are reported by index', async () => {
  const { failures, sent } = await put(
    [0, 1, 2].map((index) => record(index)),
    () => answering([{ RecordId: 'r' }, { ErrorCode: 'ServiceUnavailableException' }]),
  );
  const refused = ['ServiceUnavailableException', 'NoAnswer'].map((code) => new NotArchivedError(code));
  expect(failures).toEqual([undefined, ...refused]);
  expect(sent).toEqual(['event-0', 'event-1', 'event-2']);
});

test('a record that is larger than Firehose accepts is reported, and not sent', async () => {
  const records = [0, MAX_RECORD_BYTES + 1, MAX_RECORD_BYTES].map((bytes, index) => record(index, bytes));
  const { failures, sent } = await put(records);
  const tooLarge = new TooLargeToArchiveError('1024001 bytes as a record, more than the maximum of 1024000');
  expect(failures).toEqual([undefined, tooLarge, undefined]);
  expect(sent).toEqual(['event-0', 'event-2']);
});

test('if one of several calls fails, its records are reported', async () => {
  const records = Array.from({ length: 5 }, (_, index) => record(index, MAX_RECORD_BYTES));
  // Three records fill a call.
  const { failures } = await put(records, (count) => (count === 3 ? accepted(3) : { status: 503 }));
  expect(failures.map((failure) => failure === undefined)).toEqual([true, true, true, false, false]);
});

/** The largest possible record of the receiver, besides its body. */
const largest: ArchiveRecord = {
  eventId: 'f'.repeat(64),
  event: 'girl.schedule_changed',
  shopId: '\u0001'.repeat(2048),
  receivedAt: '2026-01-31T09:00:00.000Z',
  requestId: '\u0001'.repeat(128),
  timestamp: '2026-01-31T09:00:00.000000000Z',
  outcome: 'DeadLettered',
  failureReason: '\u0001'.repeat(2048),
  attempt: 10,
  settledAt: '2026-01-31T09:00:00.000Z',
};

test('the reserve of a record is enough for everything but its body', () => {
  expect(Buffer.byteLength(archiveLine({ ...largest, body: '' }))).toBeLessThanOrEqual(RECORD_RESERVE_BYTES);
});
