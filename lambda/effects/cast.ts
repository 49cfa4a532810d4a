import { type AttributeValue, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { type EffectOutcome, mayWrite, type VersionedChange, versionedWrite } from './event-order.ts';
import { tableKey } from './table-key.ts';

export interface CastMember {
  readonly girlId: string;
  readonly shopId: string | undefined;
  readonly name: string | undefined;
  /** Everything that the partner sent of her. */
  readonly sentData: object;
}

/** Bytes of the partner's data that are kept: an item holds 400 KB, and the row must not fail for them. */
const MAX_SENT_DATA_BYTES = 256 * 1024;

/**
 * Life of a tombstone in seconds: 90 days (decision D8), far beyond the 14 days that a message can
 * spend on a queue, so no late girl.created meets a table that has forgotten the deletion. Nor does one that
 * a replay sends (`REPLAYABLE_DAYS`).
 */
const TOMBSTONE_SECONDS = 90 * 24 * 60 * 60;

/** The cast (staff) list, one item a member. Each write replaces the item, so the newest event is all of it. */
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

  /** Adds a member, or brings her up to date. */
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
   * Leaves a tombstone in the member's place, without anything personal, that expires. Its life counts from the receipt,
   * in a replay, too: so it expires no earlier than its first writing would have, and no later.
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
 * @returns undefined if it is nested too deeply: `JSON.parse` takes any depth, `JSON.stringify` recurses
 */
function jsonText(data: object): string | undefined {
  try {
    return JSON.stringify(data);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
