/** Fields of `data`: docs/api/schemas/notification.json, "Notification of review.posted". Each may be absent. */
export const DATA_FIELDS = ['review_id', 'shop_id', 'girl_id', 'name', 'rating', 'comment'] as const;

/** A notification of the review topic, as sent to queues and functions. It may have more fields, which are ignored. */
export interface ReviewPosted {
  readonly event: 'review.posted';
  /** 64 hex digits. Identical for every delivery of the same event. */
  readonly eventId: string;
  /**
   * When it happened, in ISO 8601, UTC, with nanoseconds. Alphabetical order is the order in time. A time of the partner
   * that is too far ahead is replaced, and is in `partnerTimestamp`.
   */
  readonly timestamp: string;
  /** For people. */
  readonly title: string;
  /** Texts have at most 1,000 characters. Longer ones are truncated and end with an ellipsis. */
  readonly data: { readonly [Field in (typeof DATA_FIELDS)[number]]?: string };
  /** Name of the replay that sends the notification again. Absent otherwise. */
  readonly replay?: string;
}

/**
 * The message is not a notification of this topic. The error contains nothing of the message, because reviews are
 * personal.
 */
export class NotANotificationError extends Error {
  override readonly name = 'NotANotificationError';
}

/** @throws NotANotificationError if the text is not a notification of review.posted */
export function parseReviewPosted(text: string): ReviewPosted {
  let notification: unknown;
  try {
    notification = JSON.parse(text);
  } catch {
    throw new NotANotificationError('The message is not JSON');
  }
  if (!isObject(notification)) throw new NotANotificationError('The message is not an object');
  const { event, data, replay } = notification;
  if (event !== 'review.posted') throw new NotANotificationError('event is not review.posted');
  if (!isObject(data)) throw new NotANotificationError('data is not an object');
  return {
    event,
    eventId: requiredText(notification, 'eventId'),
    timestamp: requiredText(notification, 'timestamp'),
    title: requiredText(notification, 'title'),
    data: Object.fromEntries(
      DATA_FIELDS.filter((field) => data[field] !== undefined).map((field) => [
        field,
        requiredText(data, field),
      ]),
    ),
    ...(replay !== undefined && { replay: requiredText(notification, 'replay') }),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function requiredText(object: Readonly<Record<string, unknown>>, field: string): string {
  const value = object[field];
  if (typeof value !== 'string' || value === '') throw new NotANotificationError(`${field} is not a text`);
  return value;
}
