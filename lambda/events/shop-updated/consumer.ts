import { consume } from '../../consumer/consume.ts';
import { shopInvalidator } from '../../effects/shop-invalidation.ts';

const invalidateShop = await shopInvalidator();

/** shop.updated: invalidates what is cached of the shop. */
export const handler = consume('shop.updated', ({ data, eventId, receivedAt, version, replay }) =>
  invalidateShop({
    shopId: data.shop_id,
    updatedFields: data.updated_fields,
    eventId,
    at: receivedAt,
    version,
    replay,
  }),
);
