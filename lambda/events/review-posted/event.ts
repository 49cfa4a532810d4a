import type { EventDefinition } from '../definition.ts';
import { assumedText, object } from '../fields.ts';

export const event = {
  meaning: 'Review posted',
  processing: 'Send a review notification',
  effect: 'review',
  impact: 'Reviews are posted and nobody is notified.',
  // Not shown in the contract. Assumed: these fields if present (decision D10).
  data: object({
    review_id: assumedText,
    shop_id: assumedText,
    girl_id: assumedText,
    name: assumedText,
    rating: assumedText,
    comment: assumedText,
  }),
} as const satisfies EventDefinition;
