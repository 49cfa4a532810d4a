import * as v from 'valibot';
import type { Sample } from '../../events/samples.ts';
import { type NotificationContent, notificationMessage } from '../../lambda/effects/notification-message.ts';
import { catalogue, type EventName, eventNames, isNotification } from '../../lambda/events/catalogue.ts';
import { kebabCase } from '../../lambda/events/event-names.ts';
import { normaliseTimestamp } from '../../lambda/events/timestamp.ts';
import { CLOCK_TOLERANCE, MAX_NOTIFICATION_VALUE_LENGTH } from '../../lambda/limits.ts';
import { REPLAY_NAME } from '../../lambda/queue/replay.ts';
import { dataSchema, eventId, eventIdOf, examplesOf, fieldText, type JsonSchema } from './event-schemas.ts';

/** Maximum characters of a text in a notification. A truncated text ends with “…”, which is one character more. */
const MAX_TEXT_LENGTH = MAX_NOTIFICATION_VALUE_LENGTH + 1;

/** Pattern of a timestamp with nanoseconds. Alphabetical order of such texts is order in time (decision D9). */
const normalised = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{9}Z$';

const time = { type: 'string', format: 'date-time', pattern: normalised };

/** The message for subscriptions of the protocols `lambda` and `sqs`. */
function schemaOf(event: EventName): JsonSchema {
  return {
    title: `Notification of ${event}`,
    description: `${catalogue[event].meaning}. More fields may be added.`,
    type: 'object',
    properties: {
      event: { type: 'string', const: event, description: 'The kind of event.' },
      eventId,
      timestamp: {
        ...time,
        description: `Time of the event in UTC, always with nanoseconds, at most ${CLOCK_TOLERANCE / 60_000} minutes after its receipt. Order events by it, and events with equal times by \`eventId\`.`,
      },
      partnerTimestamp: {
        ...time,
        description:
          'The partner’s own time, if its clock was further ahead and `timestamp` differs. Absent otherwise.',
      },
      title: { type: 'string', minLength: 1, description: 'The event in a few words, for people.' },
      data: {
        title: `Data of ${event}`,
        ...notifiedData(event),
        description: `The fields of the event that we read, as strings. A string of more than ${MAX_NOTIFICATION_VALUE_LENGTH} characters is cut off and ends in “…”.`,
      },
      replay: {
        type: 'string',
        pattern: REPLAY_NAME.source,
        description:
          'Name of a replay that notifies again. Process the event once more, even if you have processed it before.',
      },
    },
    required: ['event', 'eventId', 'timestamp', 'title', 'data'],
    examples: examples.get(event),
  };
}

/** `data` as notifications have it: the fields that we read, as texts of limited length. */
function notifiedData(event: EventName): JsonSchema {
  const { properties, ...schema } = dataSchema(event);
  const fields = Object.entries(properties).map(([name, field]) => [name, asText(name, field)]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function asText(name: string, { type, minLength }: JsonSchema): JsonSchema {
  const text = {
    type: 'string',
    ...((type === undefined || minLength !== undefined) && { minLength: 1 }),
    maxLength: MAX_TEXT_LENGTH,
  };
  return { description: fieldText(name), ...(type === 'array' ? { type, items: text } : text) };
}

type MakeContent = (data: object) => NotificationContent;

/** The documents that consumers would send for the samples, by event. */
const examples = new Map<EventName, readonly unknown[]>(
  await Promise.all(
    eventNames.filter(isNotification).map(async (event) => {
      const { content } = await import(`../../lambda/events/${kebabCase(event)}/notification.ts`);
      return [event, examplesOf(event).map((payload) => notificationOf(event, payload, content))] as const;
    }),
  ),
);

function notificationOf(event: EventName, payload: Sample['payload'], content: MakeContent): unknown {
  const data: object = v.parse(catalogue[event].data, payload.data);
  const timestamp = normaliseTimestamp(String(payload.timestamp)) ?? '';
  const message = notificationMessage({
    event,
    eventId: eventIdOf(payload),
    timestamp,
    effectiveTimestamp: timestamp,
    data: { ...data },
    replay: undefined,
    ...content(data),
  });
  return JSON.parse(JSON.parse(message).sqs);
}

/** Notifications of every event that notifies. */
export const notificationSchema: JsonSchema = {
  title: 'notification',
  description:
    'Notifications for Lambda functions and queues that subscribe to the chat topic or the review topic: one document for each event.',
  oneOf: eventNames.filter(isNotification).map(schemaOf),
};
