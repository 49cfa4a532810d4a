import { consume } from '../../consumer/consume.ts';
import { Cast } from '../../effects/cast.ts';

const cast = Cast.fromEnvironment();

export const handler = consume('girl.deleted', ({ data, receivedAt, version, replay }) =>
  cast.remove({ girlId: data.girl_id, shopId: data.shop_id }, { at: receivedAt, version, replay }),
);
