import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import fc from 'fast-check';
import { sqsEvent } from '../../../events/lambda-events.ts';
import { consumerContext } from '../../support/consumer-context.ts';
import { essence, expectedState, type ReceivedDelivery } from '../../support/oracle.ts';
import { type Row, Tables } from '../../support/tables.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

let aws: TestAws;
let tables: Tables;
const handlers = new Map<string, Handler>();
beforeAll(async () => {
  aws = await startTestAws();
  tables = new Tables(aws.operator);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: aws.operator.endpoint,
    AWS_REGION: aws.operator.region,
    AWS_ACCESS_KEY_ID: 'operator',
    AWS_SECRET_ACCESS_KEY: 'operator',
    SHOP_CACHE_TABLE: aws.outputs.ShopCacheTable,
    CAST_TABLE: aws.outputs.CastTable,
    CONTACT_PARTNER_TABLE: aws.outputs.ContactPartnerTable,
    PAYLOAD_BUCKET: 'unused',
    QUEUE_URL: aws.outputs.ShopUpdatedQueueUrl,
    DEAD_LETTER_QUEUE_URL: aws.outputs.ShopUpdatedDeadLetterQueueUrl,
    MAXIMUM_RECEIVES: '10',
    FIRST_RETRY_DELAY_SECONDS: '30',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    POWERTOOLS_METRICS_DISABLED: 'true',
  });
  for (const name of ['shop-updated', 'girl-created', 'girl-deleted', 'user-updated']) {
    const { handler } = (await import(`../../../lambda/consumers/${name}.ts`)) as { handler: Handler };
    handlers.set(name.replace('-', '.'), handler);
  }
});
afterAll(() => aws.close());

async function deliver({ body, receivedAt }: ReceivedDelivery): Promise<void> {
  const payload = JSON.parse(body);
  const event = sqsEvent({ event: payload.event, name: 'consumer', payload });
  const [record] = event.Records;
  if (record?.messageAttributes.receivedAt) record.messageAttributes.receivedAt.stringValue = receivedAt;
  const result = await handlers.get(payload.event)?.(event, consumerContext);
  expect(result).toEqual({ batchItemFailures: [] });
}

const RECEIVED_AT = ['2026-01-31T09:00:00.000Z', '2026-01-31T09:00:01.000Z', '2026-01-31T09:10:00.000Z'];

/** Few moments, so that equal ones are common; the last two are ahead of (some) receipts. */
const timestamp = fc.constantFrom(
  '2026-01-31T08:00:00.000Z',
  '2026-01-31T08:00:00.001Z',
  '2026-01-31T08:59:59.000Z',
  '2026-01-31T09:07:00.000Z',
  '9999-12-31T23:59:59.000Z',
);
const id = fc.constantFrom('1', '2');
const word = fc.constantFrom('a', 'b', 'c');

const payload = fc.oneof(
  fc.record({
    event: fc.constant('shop.updated'),
    data: fc.record(
      { shop_id: id, updated_fields: fc.array(word, { maxLength: 2 }) },
      { requiredKeys: ['shop_id'] },
    ),
    timestamp,
  }),
  fc.record({
    event: fc.constant('girl.created'),
    data: fc.record({ girl_id: id, shop_id: word, name: word }, { requiredKeys: ['girl_id'] }),
    timestamp,
  }),
  fc.record({
    event: fc.constant('girl.deleted'),
    data: fc.record({ girl_id: id, shop_id: word }, { requiredKeys: ['girl_id'] }),
    timestamp,
  }),
  fc.record({
    event: fc.constant('user.updated'),
    data: fc.record(
      { user_id: id, shop_id: word, display_name: word, profile_image_url: word },
      { requiredKeys: ['user_id'] },
    ),
    timestamp,
  }),
);

/** Deliveries, each one to three times with receipts of their own, in any order. */
const history = fc
  .array(fc.tuple(payload, fc.array(fc.constantFrom(...RECEIVED_AT), { minLength: 1, maxLength: 3 })), {
    minLength: 1,
    maxLength: 10,
  })
  .chain((events) => {
    const deliveries = events.flatMap(([event, receipts]) =>
      receipts.map((receivedAt) => ({ event, receivedAt })),
    );
    return fc.shuffledSubarray(deliveries, { minLength: deliveries.length });
  });

test('any order and any number of deliveries end in the state of the newest events', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(history, async (deliveries) => {
      run += 1;
      const own = deliveries.map(({ event, receivedAt }) => ({ body: withOwnIds(event, run), receivedAt }));
      for (const delivery of own) await deliver(delivery);
      const { shops, cast, contacts } = expectedState(own);
      const expected = [...rows(shops), ...rows(cast), ...rows(contacts)];
      const actual = [
        ...(await read(aws.outputs.ShopCacheTable, 'shop_id', shops)),
        ...(await read(aws.outputs.CastTable, 'girl_id', cast)),
        ...(await read(aws.outputs.ContactPartnerTable, 'user_id', contacts)),
      ];
      expect(actual).toEqual(expected);
    }),
    { numRuns: 150 },
  );
}, 120_000);

test('deliveries that are processed at the same time end in the same state, too', async () => {
  let run = 1_000_000;
  await fc.assert(
    fc.asyncProperty(history, async (deliveries) => {
      run += 1;
      const own = deliveries.map(({ event, receivedAt }) => ({ body: withOwnIds(event, run), receivedAt }));
      await Promise.all(own.map(deliver));
      const { contacts, cast } = expectedState(own);
      expect(await read(aws.outputs.ContactPartnerTable, 'user_id', contacts)).toEqual([...rows(contacts)]);
      expect(await read(aws.outputs.CastTable, 'girl_id', cast)).toEqual([...rows(cast)]);
    }),
    { numRuns: 50 },
  );
}, 120_000);

/** Ids of one run, so that runs do not meet in the tables. */
function withOwnIds(event: { data: Record<string, unknown> }, run: number): string {
  const data = Object.fromEntries(
    Object.entries(event.data).map(([name, value]) => {
      const isKey = ['shop_id', 'girl_id', 'user_id'].includes(name) && ['1', '2'].includes(String(value));
      return [name, isKey ? `${run}-${value}` : value];
    }),
  );
  return JSON.stringify({ ...event, data });
}

const rows = (expected: Map<string, Row>) => [...expected.values()].map(essence);

async function read(table: string | undefined, key: string, expected: Map<string, Row>) {
  return Promise.all(
    [...expected.keys()].map(async (value) => essence(await tables.get(table, { [key]: value }))),
  );
}
