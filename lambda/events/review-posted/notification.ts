import type * as z from 'zod/mini';
import type { NotificationContent } from '../../effects/notification-message.ts';
import type { event } from './event.ts';

export const content = (data: z.infer<typeof event.data>): NotificationContent => ({
  title: 'Review posted',
  lines: [
    ['Shop', data.shop_id],
    ['Staff member', data.name ?? data.girl_id],
    ['Rating', data.rating],
    ['Comment', data.comment],
    ['Review', data.review_id],
  ],
});
