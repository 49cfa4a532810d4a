import { consume } from '../../consumer/consume.ts';
import { notifier } from '../../effects/notifications.ts';
import { content } from './notification.ts';

export const handler = consume('review.posted', notifier('review.posted', 'REVIEW_TOPIC_ARN', content));
