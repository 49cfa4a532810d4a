import { expect } from '@jest/globals';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { sqsEvent } from '../../events/lambda-events.ts';
import type { Replay } from '../../lambda/queue/replay.ts';
import { consumerContext } from './consumer-context.ts';
import { type ExpectedState, essence, expectedState, type ReceivedDelivery } from './oracle.ts';
import { replayedBy } from './replayed-by.ts';
import { type Row, Tables } from './tables.ts';
import type { TestAws } from './test-aws.ts';

type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** A row, and where it is. */
export interface StoredRow {
  readonly table: string;
  readonly key: Record<string, string>;
  readonly row: Row | undefined;
}

/** The consumers that write state, in this process, and the state that they write. */
export class StateConsumers {
  readonly tables: Tables;
  readonly #outputs: TestAws['outputs'];
  readonly #handlers: ReadonlyMap<string, Handler>;

  private constructor(aws: TestAws, handlers: ReadonlyMap<string, Handler>) {
    this.tables = new Tables(aws.operator);
    this.#outputs = aws.outputs;
    this.#handlers = handlers;
  }

  /** Gives this process their environment, and loads them. They archive nothing. */
  static async load(aws: TestAws): Promise<StateConsumers> {
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
    const handlers = new Map<string, Handler>();
    for (const name of ['shop-updated', 'girl-created', 'girl-deleted', 'user-updated']) {
      const { handler } = (await import(`../../lambda/events/${name}/consumer.ts`)) as { handler: Handler };
      handlers.set(name.replace('-', '.'), handler);
    }
    return new StateConsumers(aws, handlers);
  }

  /** Has a delivery processed. @param replay that sends it. @default undefined, of a delivery */
  async deliver(delivery: ReceivedDelivery, replay?: Replay): Promise<void> {
    expect(await this.attempt(delivery, replay)).toBe(true);
  }

  /** Lets a consumer try. @returns false where the message comes back */
  async attempt({ body, receivedAt }: ReceivedDelivery, replay?: Replay): Promise<boolean> {
    const payload = JSON.parse(body);
    const event = replayedBy(replay, sqsEvent({ event: payload.event, name: 'consumer', payload }));
    const [record] = event.Records;
    if (record?.messageAttributes.receivedAt) record.messageAttributes.receivedAt.stringValue = receivedAt;
    const result = await this.#handlers.get(payload.event)?.(event, consumerContext);
    return result?.batchItemFailures.length === 0;
  }

  /** The rows that these deliveries are about, as they are. */
  async rows(deliveries: readonly ReceivedDelivery[]): Promise<StoredRow[]> {
    const { shops, cast, contacts } = expectedState(deliveries);
    const read = ([id]: [string, Row], output: string, name: string) => this.#read(output, { [name]: id });
    return Promise.all([
      ...[...shops].map((shop) => read(shop, 'ShopCacheTable', 'shop_id')),
      ...[...cast].map((member) => read(member, 'CastTable', 'girl_id')),
      ...[...contacts].map((contact) => read(contact, 'ContactPartnerTable', 'user_id')),
    ]);
  }

  /** Holds the tables against what they must hold after these deliveries. */
  async expectState(deliveries: readonly ReceivedDelivery[]): Promise<void> {
    const actual = await this.rows(deliveries);
    expect(actual.map(({ row }) => essence(row))).toEqual(allRows(expectedState(deliveries)).map(essence));
  }

  async #read(output: string, key: Record<string, string>): Promise<StoredRow> {
    const table = this.#outputs[output] ?? '';
    return { table, key, row: await this.tables.get(table, key) };
  }
}

const allRows = ({ shops, cast, contacts }: ExpectedState): Row[] =>
  [shops, cast, contacts].flatMap((rows) => [...rows.values()]);
