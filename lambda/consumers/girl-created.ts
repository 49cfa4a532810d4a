import { Cast } from '../effects/cast.ts';
import { consume } from './consume.ts';

const cast = Cast.fromEnvironment();

/** girl.created: synchronises the cast by adding the staff member. */
export const handler = consume('girl.created', ({ data, sentData, receivedAt, version }) =>
  cast.add(
    { girlId: data.girl_id, shopId: data.shop_id, name: data.name, sentData: jsonText(sentData) },
    { at: receivedAt, version },
  ),
);

/**
 * The data as JSON text.
 * @returns undefined where it is nested too deeply: `JSON.parse` takes any depth, `JSON.stringify` recurses
 */
function jsonText(data: object): string | undefined {
  try {
    return JSON.stringify(data);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
