import type { NotificationFacts } from '../../../lambda/effects/notification-document.ts';
import { notificationMessage } from '../../../lambda/effects/notification-text.ts';
import { catalogue, type EventName, eventNames } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { normaliseTimestamp } from '../../../lambda/events/timestamp.ts';
import type { Words } from '../../../lambda/events/words.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';
import type { DescribedEvent } from './event-schemas.ts';
import { eventIdOf } from './ids.ts';

/** What consumers tell people, by the events that they tell of. */
const wordsOf = new Map<EventName, ((data: object) => Words) | undefined>(
  await Promise.all(
    eventNames.map(async (event) => {
      const module: { words?: (data: object) => Words } = await import(
        `../../../lambda/events/${kebabCase(event)}/schema.ts`
      );
      return [event, module.words] as const;
    }),
  ),
);

/**
 * The samples of an event as its consumer tells of them, by protocol.
 * @throws CommandError where its schema's file has no words for it
 */
export function notificationForms({ event, name, samples }: DescribedEvent) {
  const words = wordsOf.get(event);
  if (words === undefined)
    throw new CommandError(
      `lambda/events/${name}/schema.ts exports no \`words\`: what people are told of ${event}`,
    );
  return samples.map(({ payload }) => {
    const data: object = catalogue[event].data.parse(payload.data);
    const message = notificationMessage({
      event,
      eventId: eventIdOf(payload),
      timestamp: normaliseTimestamp(String(payload.timestamp)) ?? '',
      data: { ...data },
      replay: undefined,
      ...words(data),
    });
    const { default: text, https, sqs } = JSON.parse(message) as Record<'default' | 'https' | 'sqs', string>;
    return { text, chat: JSON.parse(https), document: JSON.parse(sqs) as NotificationFacts };
  });
}
