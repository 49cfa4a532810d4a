import type { EventDefinition } from '../definition.ts';
import { assumedText, identifierOfEitherType, object } from '../fields.ts';

export const event = {
  meaning: 'Staff member added',
  processing: 'Synchronise the cast',
  effect: 'cast',
  impact: 'New staff members are missing from the cast list.',
  // The contract does not show these fields. Assumed: `girl_id`, and the others if present (decision D10).
  data: object({
    girl_id: identifierOfEitherType,
    shop_id: assumedText,
    name: assumedText,
  }),
} as const satisfies EventDefinition;
