import * as z from 'zod/mini';
import { identifier, text } from '../fields.ts';

/** `data` of user.updated: shown in the contract; only `user_id` is needed (decision D11). */
export const userUpdated = z.object({
  user_id: identifier,
  shop_id: text,
  display_name: text,
  profile_image_url: text,
});
