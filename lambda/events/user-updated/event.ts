import type { EventDefinition } from '../definition.ts';
import { identifier, object, text } from '../fields.ts';

export const event = {
  meaning: 'User information updated',
  processing: 'Update the contact_partner record',
  effect: 'contact-partner',
  impact: 'Partner contacts keep an old name, picture or shop.',
  // The fields that the contract shows. Only `user_id` is needed (decision D11).
  data: object({
    user_id: identifier,
    shop_id: text,
    display_name: text,
    profile_image_url: text,
  }),
} as const satisfies EventDefinition;
