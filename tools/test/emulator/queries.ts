import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  AthenaClient,
  GetQueryExecutionCommand,
  GetQueryResultsCommand,
  StartQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import { FirehoseClient, PutRecordBatchCommand } from '@aws-sdk/client-firehose';
import { archiveLine } from '../../../lambda/archive/archive.ts';
import type { ArchiveRecord } from '../../../lambda/archive/record-schema.ts';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { pascalCase } from '../../../lambda/events/event-names.ts';
import { readTarget } from '../../../test/acceptance/target.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { ClientSettings } from './emulator.ts';

type Row = Readonly<Record<string, string | undefined>>;

/** SQL requires its quotation mark to be doubled. */
const SHOP = "shop o'questions";
const MINUTE = 60_000;

/** When the first of the events was received. */
const START = Date.now() - 60 * MINUTE;
const after = (milliseconds: number) => new Date(START + milliseconds).toISOString();

/** A record of an event that was received at the start, and processed within a second. */
function record(
  event: EventName,
  eventId: string,
  { lag = 1_000, ...fields }: Partial<ArchiveRecord> & { readonly lag?: number } = {},
): ArchiveRecord {
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
  // Redriven after it had been a dead letter.
  record('review.posted', 'redriven', { receivedAt: after(3), outcome: 'DeadLettered', lag: 2_003 }),
  record('review.posted', 'redriven', { receivedAt: after(3), lag: 10 * MINUTE + 3 }),
  // Archived twice.
  record('user.updated', 'renamed', { shopId: 'another shop' }),
  record('user.updated', 'renamed', { shopId: 'another shop' }),
  // Replayed. The message was received twice, so it has two records.
  record('shop.updated', 'stale', { replay: repair, lag: 30 * MINUTE }),
  record('shop.updated', 'stale', { replay: repair, outcome: 'Stale', lag: 31 * MINUTE }),
];

const sent = { sent_at: '2026-01-31T09:00:00.000000000Z', payload_key: undefined, body: '{}' };
const ofShop = (
  event_id: string,
  event: EventName,
  received: number,
  deliveries: string,
  outcome: string,
) => ({
  event_id,
  event,
  received_at: after(received),
  deliveries,
  outcome,
  ...sent,
});
const day = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);

/** What each query of `examples/archive-queries/` must answer. */
const ANSWERS: Readonly<Record<string, readonly Row[]>> = {
  'sent-by-shop': [
    ofShop('delivered-again', 'shop.updated', 0, '2', 'Processed'),
    ofShop('stale', 'shop.updated', 1, '1', 'Stale'),
    ofShop('redriven', 'review.posted', 3, '1', 'Processed'),
  ],
  stale: [
    { day, event: 'review.posted', events: '1', stale: '0' },
    { day, event: 'shop.updated', events: '2', stale: '1' },
    { day, event: 'user.updated', events: '1', stale: '0' },
  ],
};

/**
 * Runs each query on a stage whose archive is empty, over records written by its delivery streams.
 * @throws Error that describes the difference
 */
export async function mustAnswer(settings: ClientSettings, outputsFile: string): Promise<void> {
  const outputs: Row = JSON.parse(readFileSync(outputsFile, 'utf8'))[readTarget(outputsFile).stackName];
  const firehose = new FirehoseClient(settings);
  for (const [event, records] of Map.groupBy(RECORDS, (one) => one.event)) {
    const Records = records.map((one) => ({ Data: Buffer.from(archiveLine(one)) }));
    const DeliveryStreamName = outputs[`${pascalCase(event)}ArchiveStream`];
    await firehose.send(new PutRecordBatchCommand({ DeliveryStreamName, Records }));
  }
  await eventually(async () => {
    const [row] = await answerTo(settings, outputs, 'SELECT count(*) AS lines FROM records');
    return Number(row?.lines) === RECORDS.length || undefined;
  });
  for (const [name, answer] of Object.entries(ANSWERS)) {
    const sql = readFileSync(`examples/archive-queries/${name}.sql`, 'utf8').replace(
      'SHOP_ID',
      SHOP.replaceAll("'", "''"),
    );
    assert.deepEqual(await answerTo(settings, outputs, sql), answer, name);
  }
}

/** @throws Error if the query fails */
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
    return State === 'SUCCEEDED' || undefined;
  });
  const { ResultSet } = await athena.send(new GetQueryResultsCommand({ QueryExecutionId }));
  const [names = [], ...rows] = (ResultSet?.Rows ?? []).map(({ Data = [] }) =>
    Data.map(({ VarCharValue }) => VarCharValue),
  );
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])));
}
