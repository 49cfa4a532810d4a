import type * as v from 'valibot';
import type { NotificationContent } from '../../effects/notification-message.ts';
import type { event } from './event.ts';

export const content = (data: v.InferOutput<typeof event.data>): NotificationContent => ({
  title: 'Schedule changed',
  lines: [
    ['Shop', data.shop_id],
    ['Staff member', data.name ?? data.girl_id],
  ],
});
