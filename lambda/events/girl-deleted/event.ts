import type { EventDefinition } from '../definition.ts';
import { assumedText, identifierOfEitherType, object } from '../fields.ts';

export const event = {
  meaning: 'Staff member removed',
  processing: 'Synchronise the cast',
  effect: 'cast',
  impact: 'Staff members who left are still on the cast list.',
  // The contract does not show these fields. Assumed: `girl_id`, and the other if present (decision D10).
  data: object({
    girl_id: identifierOfEitherType,
    shop_id: assumedText,
  }),
} as const satisfies EventDefinition;
