import { escapeForSqs } from '../queue/message.ts';
import type { Replay } from '../queue/replay.ts';
import { shortened } from './shortened.ts';

/** What programs are told of an event. */
export interface NotificationFacts {
  readonly event: string;
  readonly eventId: string;
  /** The partner's, in fixed width: the order of the texts is the order in time. */
  readonly timestamp: string;
  readonly title: string;
  /** What the event's schema has of `data`, under the partner's names. */
  readonly data: Readonly<Record<string, string | undefined>>;
  /** That sent the event; undefined of a delivery. */
  readonly replay: Replay | undefined;
}

/**
 * A notification for programs, as JSON (docs/api/schemas/notification.json). It names a replay only where that is to
 * tell again: what has been done for the event is to be done once more then, and else never.
 */
export function notificationDocument(facts: NotificationFacts): string {
  const { event, eventId, timestamp, title, data, replay } = facts;
  const present = Object.entries(data).flatMap(([field, value]) =>
    value === undefined ? [] : [[field, shortened(value)] as const],
  );
  return escapeForSqs(
    JSON.stringify({
      event,
      eventId,
      timestamp,
      title,
      data: Object.fromEntries(present),
      replay: replay?.notify ? replay.name : undefined,
    }),
  );
}
