import { consume } from '../../consumer/consume.ts';
import { Cast } from '../../effects/cast.ts';

const cast = new Cast();

export const handler = consume('girl.deleted', (event) => {
  const { girl_id: girlId, shop_id: shopId } = event.data;
  return cast.remove({ girlId, shopId }, event);
});
