import { words } from '../contract/schemas/girl-schedule-changed.ts';
import { notifier } from '../effects/notifications.ts';
import { consume } from './consume.ts';

const tellChatRoom = notifier('girl.schedule_changed', 'CHAT_TOPIC_ARN');

/** girl.schedule_changed: tells the chat room. */
export const handler = consume('girl.schedule_changed', ({ eventId, timestamp, data, replay }, context) =>
  tellChatRoom({ eventId, timestamp, data, replay, ...words(data) }, context),
);
