import { consume } from '../../consumer/consume.ts';
import { notifier } from '../../effects/notifications.ts';
import { words } from './schema.ts';

const tellChatRoom = notifier('girl.schedule_changed', 'CHAT_TOPIC_ARN');

/** girl.schedule_changed: tells the chat room. */
export const handler = consume('girl.schedule_changed', ({ eventId, timestamp, data, replay }, context) =>
  tellChatRoom({ eventId, timestamp, data, replay, ...words(data) }, context),
);
