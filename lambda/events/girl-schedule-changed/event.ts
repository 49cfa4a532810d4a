import type { EventDefinition } from '../definition.ts';
import { assumedText, object } from '../fields.ts';

export const event = {
  meaning: 'Staff schedule changed',
  processing: 'Send a notification to the chat room',
  effect: 'chat',
  impact: 'Schedules change and the chat room is not notified.',
  // The contract does not show these fields. They are assumed, and used if present (decision D10).
  data: object({
    shop_id: assumedText,
    girl_id: assumedText,
    name: assumedText,
  }),
} as const satisfies EventDefinition;
