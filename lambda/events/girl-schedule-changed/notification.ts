import type * as z from 'zod/mini';
import type { NotificationContent } from '../../effects/notification-message.ts';
import type { event } from './event.ts';

export const content = (data: z.infer<typeof event.data>): NotificationContent => ({
  title: 'Schedule changed',
  lines: [
    ['Shop', data.shop_id],
    ['Staff member', data.name ?? data.girl_id],
  ],
});
