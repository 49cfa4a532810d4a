import { type AttributeValue, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { topLevelValue } from '../events/top-level-value.ts';
import { MAX_DATA_BYTES, TOMBSTONE_SECONDS } from '../limits.ts';
import { type EffectOutcome, mayWrite, type VersionedChange, versionedWrite } from './event-order.ts';
import { storableText, tableKey } from './item-values.ts';

export interface CastMember {
  readonly girlId: string;
  readonly shopId: string | undefined;
  readonly name: string | undefined;
  /** JSON text of the event. Its `data` is stored as it was sent (decision D10). */
  readonly payload: string;
}

/** The cast (staff) list, one item per member. Each write replaces the whole item. */
export class Cast {
  readonly #client = new DynamoDBClient(clientSettings);
  readonly #table = requireEnvironment(['CAST_TABLE']).CAST_TABLE;

  async add(member: CastMember, change: VersionedChange): Promise<EffectOutcome> {
    const { girlId, shopId } = member;
    const name = member.name === undefined ? undefined : storableText('name', member.name);
    const data = storableText('data', topLevelValue(member.payload, 'data'), MAX_DATA_BYTES);
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
