import { notifier } from '../effects/notifications.ts';
import { consume } from './consume.ts';

const tellChatRoom = notifier('girl.schedule_changed', 'CHAT_TOPIC_ARN');

/** girl.schedule_changed: tells the chat room. */
export const handler = consume('girl.schedule_changed', ({ eventId, data, replay }, context) =>
  tellChatRoom(
    {
      eventId,
      replay,
      shopId: data.shop_id,
      title: 'Schedule changed',
      lines: [
        ['Shop', data.shop_id],
        ['Staff member', data.name ?? data.girl_id],
      ],
    },
    context,
  ),
);
