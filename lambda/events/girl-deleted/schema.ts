import * as z from 'zod/mini';
import { assumedText, identifierOfEitherType } from '../fields.ts';

/** `data` of girl.deleted: not shown in the contract. Assumed: `girl_id`, and `shop_id` where present. */
export const girlDeleted = z.object({
  girl_id: identifierOfEitherType,
  shop_id: assumedText,
});
