import { Notifications } from '../effects/notifications.ts';
import { consume } from './consume.ts';

const chat = Notifications.fromEnvironment('CHAT_TOPIC_ARN');

/** girl.schedule_changed: tells the chat room. */
export const handler = consume('girl.schedule_changed', ({ event, eventId, data }) =>
  chat.send(
    {
      title: 'Schedule changed',
      lines: [
        ['Shop', data.shop_id],
        ['Staff member', data.name ?? data.girl_id],
      ],
    },
    { event, eventId, shopId: data.shop_id },
  ),
);
