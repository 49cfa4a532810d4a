import { type AttributeValue, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { type EffectOutcome, mayWrite, type VersionedChange, versionedWrite } from './event-order.ts';
import { tableKey } from './table-key.ts';

export interface CastMember {
  readonly girlId: string;
  readonly shopId: string | undefined;
  readonly name: string | undefined;
  /** All fields of `data` that the partner sent. */
  readonly sentData: object;
}

/**
 * Maximum bytes of the partner's data that are stored. An item can hold 400 KB, and the write must not fail because of
 * them.
 */
const MAX_SENT_DATA_BYTES = 256 * 1024;

/**
 * Lifetime of a tombstone in seconds: 90 days (decision D8). A message can be on a queue for 14 days at most, and a
 * replay is limited too (`REPLAYABLE_DAYS`). So a late girl.created always finds the tombstone.
 */
const TOMBSTONE_SECONDS = 90 * 24 * 60 * 60;

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
    const { girlId, shopId, name } = member;
    const sentData = jsonText(member.sentData);
    return await this.#put(girlId, shopId, change, {
      status: { S: 'active' },
      ...(name !== undefined && { name: { S: name } }),
      ...(sentData !== undefined &&
        Buffer.byteLength(sentData) <= MAX_SENT_DATA_BYTES && { data: { S: sentData } }),
    });
  }

  /**
   * Replaces the member by a tombstone without personal data, which expires. Its lifetime counts from the receipt, in a
   * replay too, so a replay does not change when it expires.
   */
  async remove(
    { girlId, shopId }: Pick<CastMember, 'girlId' | 'shopId'>,
    change: VersionedChange,
  ): Promise<EffectOutcome> {
    const expiresAt = Math.floor(Date.parse(change.receivedAt) / 1000) + TOMBSTONE_SECONDS;
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

/**
 * The data as JSON text.
 * @returns undefined if it is nested too deeply: `JSON.parse` accepts any depth, but `JSON.stringify` recurses
 */
function jsonText(data: object): string | undefined {
  try {
    return JSON.stringify(data);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
