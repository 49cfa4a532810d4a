import { ShopCache } from '../effects/shop-cache.ts';
import { consume } from './consume.ts';

const shopCache = ShopCache.fromEnvironment();

const { DISTRIBUTION_ID, INVALIDATION_PATHS } = process.env;

/** Only where the stack names one, or is half configured, which is said at start-up. */
const distribution =
  DISTRIBUTION_ID || INVALIDATION_PATHS
    ? (await import('../effects/distribution.ts')).Distribution.fromEnvironment()
    : undefined;

/** shop.updated: invalidates the shop cache, then what CloudFront has of the shop. */
export const handler = consume('shop.updated', async ({ data, eventId, receivedAt, version }) => {
  const shopId = data.shop_id;
  const outcome = await shopCache.invalidate({
    shopId,
    updatedFields: data.updated_fields,
    at: receivedAt,
    version,
  });
  // Also of a stale event: it may be one whose invalidation failed after its write.
  await distribution?.invalidate({ shopId, eventId });
  return outcome;
});
