import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  AthenaClient,
  GetQueryExecutionCommand,
  GetQueryResultsCommand,
  StartQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import { FirehoseClient, PutRecordBatchCommand } from '@aws-sdk/client-firehose';
import { DeleteObjectCommand, HeadObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { type ArchiveRecord, archiveLine } from '../../../lambda/archive/record.ts';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { pascalCase } from '../../../lambda/events/event-names.ts';
import { type ArchiveQuery, archiveQuery } from '../../../lib/archive/archive-queries.ts';
import { eventIdOf, Partner } from '../../../test/acceptance/partner.ts';
import { readTarget, readWebhookSecret } from '../../../test/acceptance/target.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { ClientSettings } from './emulator.ts';

type Row = Readonly<Record<string, string | undefined>>;

const SHOP = 'shop of questions';

/**
 * Shop of the delivery that passes through the whole pipeline. SQL requires its quotation mark to be doubled.
 */
const LIVE_SHOP = "shop o'questions";

const MINUTE = 60_000;

/** When the first of the events was received. */
const START = Date.now() - 60 * MINUTE;
const after = (milliseconds: number) => new Date(START + milliseconds).toISOString();

/** A record of an event that was received at the start, and processed within a second. */
function record(
  event: EventName,
  eventId: string,
  more: Partial<ArchiveRecord> & { readonly lag?: number } = {},
): ArchiveRecord {
  const { lag = 1_000, ...fields } = more;
  return {
    eventId,
    event,
    shopId: SHOP,
    receivedAt: after(0),
    requestId: `${eventId}-request`,
    timestamp: '2026-01-31T09:00:00.000000000Z',
    outcome: 'Processed',
    attempt: 1,
    settledAt: after(lag),
    ...(fields.replay === undefined && { body: '{}' }),
    ...fields,
  };
}

/**
 * A record of `user.updated`.
 * @param second of its timestamp: the order in which the partner sent the events
 */
function renamed(eventId: string, user: string, second: number, name: string): ArchiveRecord {
  const data = { user_id: user, display_name: name };
  return record('user.updated', eventId, {
    shopId: 'another shop',
    timestamp: `2026-01-31T09:00:0${second}.000000000Z`,
    body: JSON.stringify({ event: 'user.updated', data }),
  });
}

const again = { name: 'again', mode: 'fill', notify: false } as const;
const repair = { name: 'after-the-bug', mode: 'repair', notify: true } as const;

/** Records to add to the archive. They cover all ways in which an event gets more than one record. */
const RECORDS: readonly ArchiveRecord[] = [
  // Delivered again. Its first message was received twice.
  record('shop.updated', 'delivered-again'),
  record('shop.updated', 'delivered-again', { outcome: 'Duplicate', lag: 1_500 }),
  record('shop.updated', 'delivered-again', {
    requestId: 'another-request',
    receivedAt: after(MINUTE),
    outcome: 'Stale',
    lag: MINUTE + 1_000,
  }),
  record('shop.updated', 'stale', { receivedAt: after(1), outcome: 'Stale', lag: 3_001 }),
  record('shop.updated', 'slow', { receivedAt: after(2), shopId: 'another shop', lag: 9_002 }),
  // Redriven after it had been a dead letter.
  record('review.posted', 'redriven', {
    receivedAt: after(3),
    outcome: 'DeadLettered',
    failureReason: 'Error: away',
    lag: 2_003,
  }),
  record('review.posted', 'redriven', { receivedAt: after(3), lag: 10 * MINUTE + 3 }),
  // A dead letter. Fields that could not be read from it are missing.
  record('review.posted', 'dead', {
    shopId: undefined,
    timestamp: undefined,
    outcome: 'DeadLettered',
    body: 'nonsense',
  }),
  // Archived in another order than sent. One of them was archived twice.
  renamed('name-2', 'user-1', 3, 'Ann'),
  renamed('name-1', 'user-1', 1, 'Ann'),
  renamed('name-3', 'user-1', 2, 'Bea'),
  renamed('name-3', 'user-1', 2, 'Bea'),
  renamed('name-4', 'user-2', 1, 'Cat'),
  renamed('name-5', 'user-2', 2, 'Dot'),
  renamed('name-6', 'user-3', 1, 'Eve'),
  renamed('name-7', 'user-3', 2, 'Eve'),
  // Replayed. The message of one of them was received twice, so it has two records.
  record('shop.updated', 'delivered-again', { replay: again, outcome: 'Duplicate', lag: 20 * MINUTE }),
  record('shop.updated', 'stale', { replay: repair, lag: 30 * MINUTE }),
  record('shop.updated', 'stale', { replay: repair, outcome: 'Stale', lag: 31 * MINUTE }),
  record('shop.updated', 'slow', { replay: repair, lag: 32 * MINUTE }),
  record('review.posted', 'redriven', { replay: repair, outcome: 'DeadLettered', lag: 33 * MINUTE }),
];

/** A truncated line. The other lines must still be counted. */
const DAMAGED = '{"eventId":"dama\n';

/**
 * Runs each saved query on a stage whose archive is empty: over records written by its delivery streams, and over an
 * event that is delivered to it.
 * @throws Error that describes the difference
 */
export async function mustAnswer(settings: ClientSettings, outputsFile: string): Promise<void> {
  const { stackName, outputs: known } = readTarget(outputsFile);
  const outputs: Row = JSON.parse(readFileSync(outputsFile, 'utf8'))[stackName];
  const ask = (query: ArchiveQuery, shop = SHOP) =>
    answerTo(settings, outputs, archiveQuery(query).replace('SHOP_ID', shop.replaceAll("'", "''")));

  await putRecords(settings, outputs);
  const delivery = JSON.stringify({
    event: 'girl.created',
    data: { girl_id: 'girl of questions', shop_id: LIVE_SHOP, name: 'Fay' },
    timestamp: after(0),
  });
  const partner = new Partner(known.WebhookUrl, await readWebhookSecret(known.WebhookSecretArn, settings));
  const { body: answer } = await partner.post(delivery);

  const [live] = await eventually(
    async () => {
      const rows = await ask('sent-by-shop', LIVE_SHOP);
      return rows.length > 0 ? rows : undefined;
    },
    { interval: 200 },
  );
  assert.deepEqual(
    { ...live, received_at: undefined },
    {
      event_id: eventIdOf(delivery),
      event: 'girl.created',
      sent_at: `${after(0).slice(0, -1)}000000Z`,
      received_at: undefined,
      deliveries: '1',
      outcome: 'Processed',
      payload_key: undefined,
      body: delivery,
    },
  );
  assert.equal(answer.eventId, live?.event_id);

  const sent = { sent_at: '2026-01-31T09:00:00.000000000Z', payload_key: undefined, body: '{}' };
  assert.deepEqual(await ask('sent-by-shop'), [
    {
      event_id: 'delivered-again',
      event: 'shop.updated',
      received_at: after(0),
      deliveries: '2',
      outcome: 'Processed',
      ...sent,
    },
    {
      event_id: 'stale',
      event: 'shop.updated',
      received_at: after(1),
      deliveries: '1',
      outcome: 'Stale',
      ...sent,
    },
    {
      event_id: 'redriven',
      event: 'review.posted',
      received_at: after(3),
      deliveries: '1',
      outcome: 'Processed',
      ...sent,
    },
  ]);

  const day = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
  assert.deepEqual(await ask('stale'), [
    { day, event: 'girl.created', events: '1', stale: '0' },
    { day, event: 'review.posted', events: '2', stale: '0' },
    { day, event: 'shop.updated', events: '3', stale: '1' },
    { day, event: 'user.updated', events: '7', stale: '0' },
  ]);

  assert.deepEqual(await ask('name-changes'), [
    { user_id: 'user-1', changes: '2', latest_name: 'Ann' },
    { user_id: 'user-2', changes: '1', latest_name: 'Dot' },
  ]);

  const [lagOfLive, ...lags] = await ask('lag');
  assert.deepEqual(lags, [
    { day, event: 'review.posted', events: '1', median_ms: '600000', p95_ms: '600000', max_ms: '600000' },
    { day, event: 'shop.updated', events: '3', median_ms: '3000', p95_ms: '9000', max_ms: '9000' },
    { day, event: 'user.updated', events: '7', median_ms: '1000', p95_ms: '1000', max_ms: '1000' },
  ]);
  assert.deepEqual([lagOfLive?.event, lagOfLive?.events], ['girl.created', '1']);
  const lag = Number(lagOfLive?.max_ms);
  assert.ok(lag >= 0 && lag < MINUTE, `A lag of ${lag} ms`);

  const times = (first: number, last = first) => ({
    first_settled_at: after(first * MINUTE),
    last_settled_at: after(last * MINUTE),
  });
  const repaired = { name: 'after-the-bug', mode: 'repair' };
  assert.deepEqual(await ask('replays'), [
    { name: 'again', mode: 'fill', event: 'shop.updated', outcome: 'Duplicate', events: '1', ...times(20) },
    { ...repaired, event: 'shop.updated', outcome: 'Processed', events: '2', ...times(30, 32) },
    { ...repaired, event: 'review.posted', outcome: 'DeadLettered', events: '1', ...times(33) },
  ]);
  await removeRecords(settings, outputs.ArchiveBucket);
}

/** Removes all records, because one line is damaged on purpose and would disturb later readers. */
async function removeRecords(settings: ClientSettings, Bucket: string | undefined): Promise<void> {
  const s3 = new S3Client({ ...settings, forcePathStyle: true });
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'event=' }));
  for (const { Key } of Contents) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
}

/** Writes the records as consumers do, and waits until a query can read them. */
async function putRecords(settings: ClientSettings, outputs: Row): Promise<void> {
  const firehose = new FirehoseClient(settings);
  const lines = Map.groupBy(RECORDS, ({ event }) => event);
  for (const [event, ofEvent] of lines) {
    await firehose.send(
      new PutRecordBatchCommand({
        DeliveryStreamName: outputs[`${pascalCase(event)}ArchiveStream`],
        Records: [...ofEvent.map(archiveLine), DAMAGED].map((line) => ({ Data: Buffer.from(line) })),
      }),
    );
  }
  await eventually(
    async () => {
      const [row] = await answerTo(settings, outputs, 'SELECT count(*) AS lines FROM records');
      return Number(row?.lines) >= RECORDS.length + lines.size ? row : undefined;
    },
    { interval: 200 },
  );
}

/** @throws Error if the query fails, or its result is not in the archive's bucket */
async function answerTo(settings: ClientSettings, outputs: Row, QueryString: string): Promise<Row[]> {
  const athena = new AthenaClient(settings);
  const { QueryExecutionId } = await athena.send(
    new StartQueryExecutionCommand({
      QueryString,
      WorkGroup: outputs.ArchiveWorkgroup,
      QueryExecutionContext: { Database: outputs.ArchiveDatabase },
    }),
  );
  await eventually(async () => {
    const { QueryExecution } = await athena.send(new GetQueryExecutionCommand({ QueryExecutionId }));
    const { State, StateChangeReason } = QueryExecution?.Status ?? {};
    if (State === 'FAILED') throw new Error(`${StateChangeReason}:\n${QueryString}`);
    return State === 'SUCCEEDED' ? true : undefined;
  });
  await new S3Client({ ...settings, forcePathStyle: true }).send(
    new HeadObjectCommand({ Bucket: outputs.ArchiveBucket, Key: `queries/${QueryExecutionId}.csv` }),
  );
  const { ResultSet } = await athena.send(new GetQueryResultsCommand({ QueryExecutionId }));
  const [names = [], ...rows] = (ResultSet?.Rows ?? []).map(({ Data = [] }) =>
    Data.map(({ VarCharValue }) => VarCharValue),
  );
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])));
}
