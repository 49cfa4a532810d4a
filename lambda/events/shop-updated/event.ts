import type { EventDefinition } from '../definition.ts';
import { identifier, object, text, textList } from '../fields.ts';

export const event = {
  meaning: 'Shop information was updated',
  processing: 'Invalidate the shop cache',
  effect: 'shop-cache',
  impact: 'Readers still see shops as they were before an update.',
  // The fields that the contract shows. Only `shop_id` is needed (decision D11).
  data: object({
    shop_id: identifier,
    name: text,
    updated_fields: textList,
  }),
} as const satisfies EventDefinition;
