import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import type { EffectOutcome } from './outcome.ts';
import { tableKey } from './table-key.ts';
import { mayWrite, type VersionedChange, versionedWrite } from './versioned-write.ts';

export interface ShopUpdate extends VersionedChange {
  readonly shopId: string;
  /** Names of the fields that changed; absent where the partner did not say. */
  readonly updatedFields?: readonly string[] | undefined;
}

/** Bytes of field names that are kept: an item holds 400 KB, and the invalidation must not fail for them. */
const MAXIMUM_UPDATED_FIELDS_BYTES = 64 * 1024;

/**
 * The cached shops, one item a shop. Whoever reads a shop caches it under `shop`, on the condition
 * that `version` is still what it was before the read: so what was read before an update cannot be
 * cached after it.
 */
export class ShopCache {
  readonly #client: DynamoDBClient;
  readonly #table: string;

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  static fromEnvironment(): ShopCache {
    return new ShopCache(
      new DynamoDBClient(clientSettings),
      requireEnvironment(['SHOP_CACHE_TABLE']).SHOP_CACHE_TABLE,
    );
  }

  /** Removes the cached shop and records the version that made it stale. */
  async invalidate(update: ShopUpdate): Promise<EffectOutcome> {
    const { shopId, updatedFields, at, version } = update;
    const kept = fits(updatedFields) ? updatedFields : undefined;
    return await versionedWrite(version, () =>
      this.#client.send(
        new UpdateItemCommand({
          TableName: this.#table,
          Key: { shop_id: { S: tableKey(shopId) } },
          UpdateExpression: kept
            ? 'SET version = :version, invalidated_at = :at, updated_fields = :fields REMOVE shop'
            : 'SET version = :version, invalidated_at = :at REMOVE shop, updated_fields',
          ConditionExpression: mayWrite(update),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ExpressionAttributeValues: {
            ':version': { S: version },
            ':at': { S: at },
            ...(kept && { ':fields': { L: kept.map((field) => ({ S: field })) } }),
          },
        }),
      ),
    );
  }
}

function fits(fields: readonly string[] | undefined): fields is readonly string[] {
  return fields !== undefined && Buffer.byteLength(JSON.stringify(fields)) <= MAXIMUM_UPDATED_FIELDS_BYTES;
}
