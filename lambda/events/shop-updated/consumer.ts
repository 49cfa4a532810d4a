import { consume } from '../../consumer/consume.ts';
import { shopInvalidator } from '../../effects/shop-cache.ts';

const invalidateShop = await shopInvalidator();

export const handler = consume('shop.updated', (event) => {
  const { shop_id: shopId, updated_fields: updatedFields } = event.data;
  return invalidateShop({ ...event, shopId, updatedFields });
});
