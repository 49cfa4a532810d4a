import * as z from 'zod/mini';
import { assumedText } from '../fields.ts';

/** `data` of review.posted: not shown in the contract. Assumed: these fields where present. */
export const reviewPosted = z.object({
  review_id: assumedText,
  shop_id: assumedText,
  girl_id: assumedText,
  name: assumedText,
  rating: assumedText,
  comment: assumedText,
});
