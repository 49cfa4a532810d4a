import { notifier } from '../effects/notifications.ts';
import { consume } from './consume.ts';

const tellReviewers = notifier('review.posted', 'REVIEW_TOPIC_ARN');

/** review.posted: sends a review notification. */
export const handler = consume('review.posted', ({ eventId, timestamp, data, replay }, context) =>
  tellReviewers(
    {
      eventId,
      timestamp,
      data,
      replay,
      title: 'Review posted',
      lines: [
        ['Shop', data.shop_id],
        ['Staff member', data.name ?? data.girl_id],
        ['Rating', data.rating],
        ['Comment', data.comment],
        ['Review', data.review_id],
      ],
    },
    context,
  ),
);
