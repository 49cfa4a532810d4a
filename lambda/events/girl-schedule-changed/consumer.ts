import { consume } from '../../consumer/consume.ts';
import { notifier } from '../../effects/notifications.ts';
import { content } from './notification.ts';

export const handler = consume(
  'girl.schedule_changed',
  notifier('girl.schedule_changed', 'CHAT_TOPIC_ARN', content),
);
