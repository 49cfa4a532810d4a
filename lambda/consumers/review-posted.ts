import { Notifications } from '../effects/notifications.ts';
import { consume } from './consume.ts';

const reviews = Notifications.fromEnvironment('REVIEW_TOPIC_ARN');

/** review.posted: sends a review notification. */
export const handler = consume('review.posted', ({ event, eventId, data }) =>
  reviews.send(
    {
      title: 'Review posted',
      lines: [
        ['Shop', data.shop_id],
        ['Staff member', data.name ?? data.girl_id],
        ['Rating', data.rating],
        ['Comment', data.comment],
        ['Review', data.review_id],
      ],
    },
    { event, eventId, shopId: data.shop_id },
  ),
);
