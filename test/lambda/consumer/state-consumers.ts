import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import { sqsEvent } from '../../../events/samples.ts';
import { MAX_RECEIVES } from '../../../lambda/limits.ts';
import type { Replay } from '../../../lambda/queue/replay.ts';
import {
  type ConsumerHandler,
  consumerContext,
  functionEnvironment,
  replayedBy,
} from '../../support/function-environment.ts';
import {
  type ExpectedState,
  essence,
  expectedState,
  FIVE_MINUTES,
  type ReceivedDelivery,
} from '../../support/oracle.ts';
import { type Row, Tables } from '../../support/tables.ts';
import type { TestAws } from '../../support/test-aws.ts';

/** An item, and where it is. */
export interface StoredRow {
  readonly table: string;
  readonly key: Record<string, string>;
  readonly row: Row | undefined;
}

/** The consumers that write state, in this process, and the state that they write. */
export class StateConsumers {
  readonly tables: Tables;
  readonly #outputs: TestAws['outputs'];
  readonly #handlers: ReadonlyMap<string, ConsumerHandler>;

  private constructor(aws: TestAws, handlers: ReadonlyMap<string, ConsumerHandler>) {
    this.tables = new Tables(aws.operator);
    this.#outputs = aws.outputs;
    this.#handlers = handlers;
  }

  /** Sets the consumers' environment in this process, and loads the consumers. They archive nothing. */
  static async load(aws: TestAws): Promise<StateConsumers> {
    const handlers = new Map<string, ConsumerHandler>();
    for (const name of ['shop-updated', 'girl-created', 'girl-deleted', 'user-updated']) {
      Object.assign(process.env, functionEnvironment(name, aws), { ARCHIVE_STREAM: '' });
      const { handler } = await import(`../../../lambda/events/${name}/consumer.ts`);
      handlers.set(name.replace('-', '.'), handler);
    }
    return new StateConsumers(aws, handlers);
  }

  /**
   * Processes a delivery as its queue does: a message that comes back is tried again. On a busy computer a call to
   * DynamoDB may take longer than its timeout.
   * @param replay that sends the delivery.
   * @default undefined: a normal delivery
   */
  async deliver(delivery: ReceivedDelivery, replay?: Replay): Promise<void> {
    let attempts = 1;
    while (!(await this.attempt(delivery, replay)) && attempts < MAX_RECEIVES) attempts += 1;
    expect(attempts).toBeLessThan(MAX_RECEIVES);
  }

  /**
   * One attempt of a consumer.
   * @returns false if the message comes back
   */
  async attempt({ body, receivedAt }: ReceivedDelivery, replay?: Replay): Promise<boolean> {
    const payload = JSON.parse(body);
    const event = replayedBy(replay, sqsEvent({ event: payload.event, name: 'consumer', payload }));
    const [record] = event.Records;
    if (record?.messageAttributes.receivedAt) record.messageAttributes.receivedAt.stringValue = receivedAt;
    const result = await this.#handlers.get(payload.event)?.(event, consumerContext);
    return result?.batchItemFailures.length === 0;
  }

  /** The current items of these deliveries. */
  async rows(deliveries: readonly ReceivedDelivery[]): Promise<StoredRow[]> {
    const { shops, cast, contacts } = expectedState(deliveries);
    const read = ([id]: [string, Row], output: string, name: string) => this.#read(output, { [name]: id });
    return Promise.all([
      ...[...shops].map((shop) => read(shop, 'ShopCacheTable', 'shop_id')),
      ...[...cast].map((member) => read(member, 'CastTable', 'girl_id')),
      ...[...contacts].map((contact) => read(contact, 'ContactPartnerTable', 'user_id')),
    ]);
  }

  /** Checks that the tables have the expected content after these deliveries. */
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

const RECEIVED_AT = ['2026-01-31T09:00:00.000Z', '2026-01-31T09:00:01.000Z', '2026-01-31T09:10:00.000Z'];

/** A few timestamps, so that equal ones are common. The last two are later than (some) receipts. */
const timestamp = fc.constantFrom(
  '2026-01-31T08:00:00.000Z',
  '2026-01-31T08:00:00.001Z',
  '2026-01-31T08:59:59.000Z',
  '2026-01-31T09:07:00.000Z',
  '9999-12-31T23:59:59.000Z',
);
const id = fc.constantFrom('1', '2');
const word = fc.constantFrom('a', 'b', 'c');

const payloadOf = (event: string, key: string, fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record({
    event: fc.constant(event),
    data: fc.record({ [key]: id, ...fields }, { requiredKeys: [key] }),
    timestamp,
  });

const payload = fc.oneof(
  payloadOf('shop.updated', 'shop_id', { updated_fields: fc.array(word, { maxLength: 2 }) }),
  payloadOf('girl.created', 'girl_id', { shop_id: word, name: word }),
  payloadOf('girl.deleted', 'girl_id', { shop_id: word }),
  payloadOf('user.updated', 'user_id', { shop_id: word, display_name: word, profile_image_url: word }),
);

/**
 * Deliveries of events that write state, each once or twice with its own receipts, in any order. If its timestamp
 * is too far ahead of a receipt, all copies of an event have the same receipt: the first copy that is processed decides
 * its place, and these histories are processed in several orders. `clocks.test.ts` has copies with other receipts.
 */
export const history: fc.Arbitrary<ReceivedDelivery[]> = fc
  // Without fast-check's bias towards short arrays: events must meet at their items.
  .noBias(
    fc.array(fc.tuple(payload, fc.array(fc.constantFrom(...RECEIVED_AT), { minLength: 1, maxLength: 2 })), {
      minLength: 4,
      maxLength: 10,
    }),
  )
  .chain((events) => {
    const deliveries = events.flatMap(([event, receipts]) =>
      receipts.map((receivedAt) =>
        Date.parse(event.timestamp) > Date.parse(RECEIVED_AT[0] ?? '') + FIVE_MINUTES
          ? { body: JSON.stringify({ ...event, webhookId: receipts[0] }), receivedAt: receipts[0] ?? '' }
          : { body: JSON.stringify(event), receivedAt },
      ),
    );
    return fc.shuffledSubarray(deliveries, { minLength: deliveries.length });
  });

/** The same deliveries with ids of one run, so that runs do not share items. */
export function ofRun(run: number, deliveries: readonly ReceivedDelivery[]): ReceivedDelivery[] {
  return deliveries.map(({ body, receivedAt }) => {
    const { data, ...event } = JSON.parse(body) as { data: Record<string, unknown> };
    const own = Object.entries(data).map(([name, value]) => {
      const isKey = ['shop_id', 'girl_id', 'user_id'].includes(name) && ['1', '2'].includes(String(value));
      return [name, isKey ? `${run}-${value}` : value];
    });
    return { body: JSON.stringify({ ...event, data: Object.fromEntries(own) }), receivedAt };
  });
}

const DAMAGES = ['removed', 'changed', 'shortened', 'added', 'mistyped'] as const;

/** Damage to an attribute of an item, as by a bug. */
interface Damage {
  readonly attribute: string;
  readonly kind: (typeof DAMAGES)[number];
}

/** Columns of all tables except keys and `version`. No event writes `notes`. */
const COLUMNS = [
  ...['shop_id', 'name', 'data', 'status', 'updated_at', 'expires_at', 'updated_fields', 'invalidated_at'],
  ...['shop', 'display_name', 'profile_image_url', 'shop_id_version', 'display_name_version'],
  ...['profile_image_url_version', 'notes'],
];

/** Some damage for items of any table. Attributes that an item lacks are ignored. */
export const damages: fc.Arbitrary<Damage[]> = fc.array(
  fc.record({ attribute: fc.constantFrom(...COLUMNS), kind: fc.constantFrom(...DAMAGES) }),
  { maxLength: 12 },
);

/** Whether the damage keeps the versions of items and fields, so that a normal delivery has no reason to write. */
export const underRightVersions = ({ attribute }: Damage): boolean => !attribute.endsWith('_version');

/**
 * Writes the damaged items. Their keys and `version` are right. Attributes are added only if a repair removes them: for
 * the cast any, for the shop cache its own.
 */
export async function damage(
  tables: Tables,
  rows: readonly StoredRow[],
  damages: readonly Damage[],
): Promise<void> {
  await Promise.all(
    rows.map(async ({ table, key, row }) => {
      const damaged: Row = { ...row };
      for (const each of damages) if (!(each.attribute in key)) harm(damaged, key, each);
      await tables.client.send(new PutItemCommand({ TableName: table, Item: marshall(damaged) }));
    }),
  );
}

function harm(row: Row, key: StoredRow['key'], { attribute, kind }: Damage): void {
  const isThere = attribute in row;
  if (kind === 'added') {
    const isRemovable = 'girl_id' in key || ('shop_id' in key && /^(shop|updated_fields)$/.test(attribute));
    if (!isThere && isRemovable) row[attribute] = 'wrong';
  } else if (isThere && kind === 'removed') {
    delete row[attribute];
  } else if (isThere && kind === 'mistyped') {
    // DynamoDB accepts only text in indexed columns.
    row[attribute] = attribute === 'shop_id' ? 'wrong' : null;
  } else if (isThere) {
    row[attribute] = attribute.endsWith('_version') ? lowered(row[attribute], kind) : 'wrong';
  }
}

/**
 * Writes contacts like a bug that fills in missing fields: all fields of an item are wrong, with the version of its
 * newest event.
 */
export async function fillIn(tables: Tables, rows: readonly StoredRow[]): Promise<void> {
  const contacts = rows.filter(({ key }) => 'user_id' in key);
  await Promise.all(
    contacts.map(async ({ table, row }) => {
      const claimed = Object.entries(row ?? {}).map(([name, value]) => {
        if (name.endsWith('_version')) return [name, row?.version];
        return [name, row !== undefined && `${name}_version` in row ? 'wrong' : value];
      });
      await tables.client.send(
        new PutItemCommand({ TableName: table, Item: marshall(Object.fromEntries(claimed)) }),
      );
    }),
  );
}

/** A version that a bug may have written: lower than all others, or between the item's own and the previous version. */
const lowered = (version: unknown, kind: Damage['kind']) =>
  kind === 'shortened' && typeof version === 'string' ? version.slice(0, -1) : '0';
