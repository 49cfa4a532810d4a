import * as z from 'zod/mini';
import { assumedText } from '../fields.ts';
import type { Words } from '../words.ts';

/** `data` of girl.schedule_changed: not shown in the contract. Assumed: these fields where present. */
export const girlScheduleChanged = z.object({
  shop_id: assumedText,
  girl_id: assumedText,
  name: assumedText,
});

/** What people are told of it. */
export const words = (data: z.infer<typeof girlScheduleChanged>): Words => ({
  title: 'Schedule changed',
  lines: [
    ['Shop', data.shop_id],
    ['Staff member', data.name ?? data.girl_id],
  ],
});
