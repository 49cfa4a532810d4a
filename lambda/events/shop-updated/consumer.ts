import { consume } from '../../consumer/consume.ts';
import { shopInvalidator } from '../../effects/shop-cache.ts';

const invalidateShop = await shopInvalidator();

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
