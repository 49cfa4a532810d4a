import { existsSync } from 'node:fs';
import {
  type NotificationContent,
  type NotificationFacts,
  notificationMessage,
} from '../../../lambda/effects/notification-message.ts';
import { catalogue, type EventName, eventNames, isNotification } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { normaliseTimestamp } from '../../../lambda/events/timestamp.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';
import type { DescribedEvent } from './event-schemas.ts';
import { eventIdOf } from './ids.ts';

const contentFile = (event: EventName) => `lambda/events/${kebabCase(event)}/notification.ts`;

/** What makes the content of a notification, by the events that notify. */
const contentOf = new Map<EventName, ((data: object) => NotificationContent) | undefined>(
  await Promise.all(
    eventNames.filter(isNotification).map(async (event) => {
      const file = contentFile(event);
      const { content } = existsSync(file) ? await import(`../../../${file}`) : {};
      return [event, content] as const;
    }),
  ),
);

/**
 * The samples of an event as its consumer notifies of them, by protocol.
 * @throws CommandError if its folder has no content of a notification
 */
export function notificationForms({ event, samples }: DescribedEvent) {
  const content = contentOf.get(event);
  if (content === undefined)
    throw new CommandError(`${contentFile(event)} exports no \`content\`: what people are told of ${event}`);
  return samples.map(({ payload }) => {
    const data: object = catalogue[event].data.parse(payload.data);
    const message = notificationMessage({
      event,
      eventId: eventIdOf(payload),
      timestamp: normaliseTimestamp(String(payload.timestamp)) ?? '',
      data: { ...data },
      replay: undefined,
      ...content(data),
    });
    const { default: text, https, sqs } = JSON.parse(message) as Record<'default' | 'https' | 'sqs', string>;
    return { text, chat: JSON.parse(https), document: JSON.parse(sqs) as NotificationFacts };
  });
}
