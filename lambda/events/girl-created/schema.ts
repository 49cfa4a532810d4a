import * as z from 'zod/mini';
import { assumedText, identifierOfEitherType } from '../fields.ts';

/** `data` of girl.created: not shown in the contract. Assumed: `girl_id`, and these two where present. */
export const girlCreated = z.object({
  girl_id: identifierOfEitherType,
  shop_id: assumedText,
  name: assumedText,
});
