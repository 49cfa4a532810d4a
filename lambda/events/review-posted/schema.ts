import * as z from 'zod/mini';
import { assumedText } from '../fields.ts';
import type { Words } from '../words.ts';

/** `data` of review.posted: not shown in the contract. Assumed: these fields where present. */
export const reviewPosted = z.object({
  review_id: assumedText,
  shop_id: assumedText,
  girl_id: assumedText,
  name: assumedText,
  rating: assumedText,
  comment: assumedText,
});

/** What people are told of it. */
export const words = (data: z.infer<typeof reviewPosted>): Words => ({
  title: 'Review posted',
  lines: [
    ['Shop', data.shop_id],
    ['Staff member', data.name ?? data.girl_id],
    ['Rating', data.rating],
    ['Comment', data.comment],
    ['Review', data.review_id],
  ],
});
