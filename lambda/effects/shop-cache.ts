import { randomUUID } from 'node:crypto';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { isRepair } from '../queue/replay.ts';
import { type EffectOutcome, mayWrite, type VersionedChange, versionedWrite } from './event-order.ts';
import { storableText, tableKey } from './item-values.ts';

export interface ShopUpdate extends VersionedChange {
  readonly shopId: string;
  /** Names of the fields that changed; absent if the partner did not say. */
  readonly updatedFields?: readonly string[] | undefined;
}

/**
 * The cached shops, one item per shop. A reader stores a shop under `shop` only if `invalidation` is unchanged since
 * before its read (decision 22). So a shop that was read before an update cannot be cached after it.
 */
export class ShopCache {
  readonly #client = new DynamoDBClient(clientSettings);
  readonly #table = requireEnvironment(['SHOP_CACHE_TABLE']).SHOP_CACHE_TABLE;

  /**
   * Removes the cached shop, and stores the update if it is the newest one. A stale update removes the shop, too: by the
   * order of timestamps it is older, but the shop may have been cached before it happened.
   */
  async invalidate(update: ShopUpdate): Promise<EffectOutcome> {
    const { shopId, updatedFields, receivedAt, version } = update;
    const names = updatedFields && storableText('updated_fields', JSON.stringify(updatedFields));
    const fields = names === undefined ? undefined : updatedFields;
    const item = { TableName: this.#table, Key: { shop_id: { S: tableKey(shopId) } } };
    // No reader has seen it yet.
    const invalidation = { ':invalidation': { S: randomUUID() } };
    const set = 'SET invalidation = :invalidation, version = :version, invalidated_at = :at';
    const outcome = await versionedWrite(version, () =>
      this.#client.send(
        new UpdateItemCommand({
          ...item,
          UpdateExpression: fields
            ? `${set}, updated_fields = :fields REMOVE shop`
            : `${set} REMOVE shop, updated_fields`,
          ConditionExpression: mayWrite(update),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ExpressionAttributeValues: {
            ...invalidation,
            ':version': { S: version },
            ':at': { S: receivedAt },
            ...(fields && { ':fields': { L: fields.map((field) => ({ S: field })) } }),
          },
        }),
      ),
    );
    if (outcome === 'Stale') {
      await this.#client.send(
        new UpdateItemCommand({
          ...item,
          UpdateExpression: 'SET invalidation = :invalidation REMOVE shop',
          ExpressionAttributeValues: invalidation,
        }),
      );
    }
    return outcome;
  }
}

/**
 * Makes a function that invalidates both caches of a shop: the table, then CloudFront.
 * @throws Error if the environment has only a part of the distribution's settings
 */
export async function shopInvalidator() {
  const shopCache = new ShopCache();
  const { DISTRIBUTION_ID, INVALIDATION_PATHS } = process.env;
  // Undefined if the stack configures no distribution. An incomplete configuration fails at start-up.
  const distribution =
    DISTRIBUTION_ID || INVALIDATION_PATHS
      ? new (await import('./cloudfront-distribution.ts')).CloudFrontDistribution()
      : undefined;

  return async (update: ShopUpdate & { readonly eventId: string }): Promise<EffectOutcome> => {
    const { shopId, eventId, replay } = update;
    const repairs = isRepair(replay);
    const outcome = await shopCache.invalidate(update);
    // An event that the table skips invalidates CloudFront, too: an earlier attempt may have written to the table and
    // then failed at CloudFront. A repair writes again after such a failure, so if it did not write, a newer event is
    // stored.
    if (!repairs || outcome === 'Processed') {
      // CloudFront ignores a second invalidation with the same reference, so the invalidation of a repair needs a
      // reference of its own.
      const reference = repairs ? `${eventId}-${replay?.name}` : eventId;
      await distribution?.invalidate(shopId, reference);
    }
    return outcome;
  };
}
