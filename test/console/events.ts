/** A payload of an event that has its effect. */
export const shopUpdated = (shop: string, more: object = {}) => ({
  event: 'shop.updated',
  data: { shop_id: shop, name: 'Aozora', updated_fields: ['name'], ...more },
  timestamp: new Date().toISOString(),
});
