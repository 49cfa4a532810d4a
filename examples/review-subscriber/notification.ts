/** Fields of `data`: docs/api/schemas/notification.json, "Notification of review.posted". Each may be absent. */
export const DATA_FIELDS = ['review_id', 'shop_id', 'girl_id', 'name', 'rating', 'comment'] as const;

/** What the review topic sends to queues and functions. More fields may come: they are passed over. */
export interface ReviewPosted {
  readonly event: 'review.posted';
  /** 64 hex digits. The same event has the same, however often it comes. */
  readonly eventId: string;
  /** When it happened, ISO 8601 in UTC with nanoseconds: the order of the texts is the order in time. */
  readonly timestamp: string;
  /** For people. */
  readonly title: string;
  /** Texts of 1,000 characters at most, of longer ones the beginning and an ellipsis. */
  readonly data: { readonly [Field in (typeof DATA_FIELDS)[number]]?: string };
  /** Name of the replay that tells of the event once more; absent otherwise. */
  readonly replay?: string;
}

/** A message that is none of the topic's. Its text shows nothing of the message: reviews are personal. */
export class NotANotificationError extends Error {
  override readonly name = 'NotANotificationError';
}

/** @throws NotANotificationError where the text is not a notification of review.posted */
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
