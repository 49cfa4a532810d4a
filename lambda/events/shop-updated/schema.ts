import * as z from 'zod/mini';
import { identifier, text, textList } from '../fields.ts';

/** `data` of shop.updated: shown in the contract; only `shop_id` is needed (decision D11). */
export const shopUpdated = z.object({
  shop_id: identifier,
  name: text,
  updated_fields: textList,
});
