import { consume } from '../../consumer/consume.ts';
import { Cast } from '../../effects/cast.ts';

const cast = Cast.fromEnvironment();

export const handler = consume('girl.created', ({ data, sentData, receivedAt, version, replay }) =>
  cast.add(
    { girlId: data.girl_id, shopId: data.shop_id, name: data.name, sentData },
    { at: receivedAt, version, replay },
  ),
);
