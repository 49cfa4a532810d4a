import { type AttributeValue, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { MAX_DATA_BYTES, MEMORY_SECONDS } from '../limits.ts';
import { type EffectOutcome, mayWrite, type VersionedChange, versionedWrite } from './event-order.ts';
import { storableText } from './storable-text.ts';
import { tableKey } from './table-key.ts';

export interface CastMember {
  readonly girlId: string;
  readonly shopId: string | undefined;
  readonly name: string | undefined;
  /** JSON text of the event. All fields of its `data` are stored. */
  readonly payload: string;
}

/** The cast (staff) list, one item per member. Each write replaces the whole item. */
export class Cast {
  readonly #client: DynamoDBClient;
  readonly #table: string;

  constructor(
    client = new DynamoDBClient(clientSettings),
    table = requireEnvironment(['CAST_TABLE']).CAST_TABLE,
  ) {
    this.#client = client;
    this.#table = table;
  }

  async add(member: CastMember, change: VersionedChange): Promise<EffectOutcome> {
    const { girlId, shopId } = member;
    const name = member.name === undefined ? undefined : await storableText('name', member.name);
    const data = await storableText('data', sentDataText(member.payload), MAX_DATA_BYTES);
    return await this.#put(girlId, shopId, change, {
      status: { S: 'active' },
      ...(name !== undefined && { name: { S: name } }),
      ...(data !== undefined && { data: { S: data } }),
    });
  }

  /**
   * Replaces the member by a tombstone without personal data, which expires. The tombstone's lifetime counts from the
   * receipt of the event, in a replay too, so a replay does not change when it expires.
   */
  async remove(
    { girlId, shopId }: Pick<CastMember, 'girlId' | 'shopId'>,
    change: VersionedChange,
  ): Promise<EffectOutcome> {
    // When the tombstone expires, in epoch seconds. No message can be on queues or be replayed for so long, so a late
    // girl.created always finds the tombstone.
    const expiresAt = Math.floor(Date.parse(change.receivedAt) / 1000) + MEMORY_SECONDS;
    return await this.#put(girlId, shopId, change, {
      status: { S: 'deleted' },
      expires_at: { N: String(expiresAt) },
    });
  }

  async #put(
    girlId: string,
    shopId: string | undefined,
    change: VersionedChange,
    attributes: Record<string, AttributeValue>,
  ): Promise<EffectOutcome> {
    const { receivedAt, version } = change;
    return await versionedWrite(version, () =>
      this.#client.send(
        new PutItemCommand({
          TableName: this.#table,
          Item: {
            girl_id: { S: tableKey(girlId) },
            ...(shopId !== undefined && { shop_id: { S: tableKey(shopId) } }),
            ...attributes,
            version: { S: version },
            updated_at: { S: receivedAt },
          },
          ConditionExpression: mayWrite(change),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ExpressionAttributeValues: { ':version': { S: version } },
        }),
      ),
    );
  }
}

/** Numbers of 2^53 and above, as `JSON.stringify` writes them: at least 16 digits, or an exponent. */
const LONG_NUMBER = /\d[\d.]{15}|\de\+/;

/**
 * Maximum length of a payload that is parsed with a reviver. A reviver is 30 times slower and needs memory for each
 * value: a payload of 5 MB would need more than the function has.
 */
const MAX_REVIVED_LENGTH = 1024 * 1024;

/** The part of `JSON` that TypeScript does not declare. Source: ECMAScript proposal "JSON.parse source text access". */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

/**
 * `data` as JSON text. Integers from 2^53 on keep the digits that the partner sent: `JSON.parse` rounds them.
 * @returns undefined if the digits cannot be kept in a large payload, or if `data` is nested too deeply: `JSON.parse`
 * accepts any depth, but the reviver and `JSON.stringify` recurse
 */
function sentDataText(payload: string): string | undefined {
  try {
    const rounded = JSON.stringify(JSON.parse(payload).data);
    if (!LONG_NUMBER.test(rounded)) return rounded;
    return payload.length > MAX_REVIVED_LENGTH
      ? undefined
      : JSON.stringify(JSON.parse(payload, keepDigits).data);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const keepDigits = (_key: string, value: unknown, context?: { readonly source: string }) =>
  typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER && context
    ? rawJSON(context.source)
    : value;
