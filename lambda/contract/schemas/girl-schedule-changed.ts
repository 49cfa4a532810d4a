import * as z from 'zod/mini';
import { assumedText } from '../fields.ts';

/** `data` of girl.schedule_changed: not shown in the contract. Assumed: these fields where present. */
export const girlScheduleChanged = z.object({
  shop_id: assumedText,
  girl_id: assumedText,
  name: assumedText,
});
