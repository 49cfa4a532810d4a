import { consume } from '../../consumer/consume.ts';
import { notifier } from '../../effects/notifications.ts';
import { words } from './schema.ts';

const tellReviewers = notifier('review.posted', 'REVIEW_TOPIC_ARN');

/** review.posted: sends a review notification. */
export const handler = consume('review.posted', ({ eventId, timestamp, data, replay }, context) =>
  tellReviewers({ eventId, timestamp, data, replay, ...words(data) }, context),
);
