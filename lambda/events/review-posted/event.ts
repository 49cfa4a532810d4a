import type { EventDefinition } from '../definition.ts';
import { assumedText, object } from '../fields.ts';

export const event = {
  meaning: 'Review posted',
  processing: 'Send a review notification',
  effect: 'review',
  impact: 'Reviews are posted and nobody is notified.',
  // The contract does not show these fields. They are assumed, and used if present (decision D10).
  data: object({
    review_id: assumedText,
    shop_id: assumedText,
    girl_id: assumedText,
    name: assumedText,
    rating: assumedText,
    comment: assumedText,
  }),
} as const satisfies EventDefinition;
