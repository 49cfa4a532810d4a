import { consume } from '../../consumer/consume.ts';
import { Cast } from '../../effects/cast.ts';

const cast = new Cast();

export const handler = consume('girl.created', (event) => {
  const { girl_id: girlId, shop_id: shopId, name } = event.data;
  return cast.add({ girlId, shopId, name, payload: event.text }, event);
});
