import { ShopCache } from '../effects/shop-cache.ts';
import { consume } from './consume.ts';

const shopCache = ShopCache.fromEnvironment();

/** shop.updated: invalidates the shop cache. */
export const handler = consume('shop.updated', ({ data, receivedAt, version }) =>
  shopCache.invalidate({
    shopId: data.shop_id,
    updatedFields: data.updated_fields,
    at: receivedAt,
    version,
  }),
);
