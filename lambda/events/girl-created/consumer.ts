import { consume } from '../../consumer/consume.ts';
import { Cast } from '../../effects/cast.ts';

const cast = Cast.fromEnvironment();

/** girl.created: synchronises the cast by adding the staff member. */
export const handler = consume('girl.created', ({ data, sentData, receivedAt, version, replay }) =>
  cast.add(
    { girlId: data.girl_id, shopId: data.shop_id, name: data.name, sentData },
    { at: receivedAt, version, replay },
  ),
);
