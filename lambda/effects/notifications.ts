import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import type { Context } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { stringAttribute } from '../message-attribute.ts';
import { recordLog } from '../record-log.ts';
import { count } from '../telemetry.ts';
import { type Notification, notificationMessage } from './notification-text.ts';
import { oncePerEvent, oncePerReplay } from './once.ts';
import type { EffectOutcome } from './outcome.ts';

/** A topic that people are told through, once for each event. */
export class Notifications {
  readonly #client: SNSClient;
  readonly #topicArn: string;

  constructor(client: SNSClient, topicArn: string) {
    this.#client = client;
    this.#topicArn = topicArn;
  }

  /** @param variable the environment variable with the topic's ARN */
  static fromEnvironment(variable: 'CHAT_TOPIC_ARN' | 'REVIEW_TOPIC_ARN'): Notifications {
    return new Notifications(new SNSClient(clientSettings), requireEnvironment([variable])[variable]);
  }

  /** Its attributes are what filter policies of subscriptions choose by. */
  async send(notification: Notification): Promise<EffectOutcome> {
    const { event, eventId, title, data, replay } = notification;
    const { $metadata } = await this.#client.send(
      new PublishCommand({
        TopicArn: this.#topicArn,
        Subject: title,
        MessageStructure: 'json',
        Message: notificationMessage(notification),
        MessageAttributes: {
          event: stringAttribute(event),
          eventId: stringAttribute(eventId),
          ...(data.shop_id !== undefined && { shop_id: stringAttribute(data.shop_id) }),
          ...(replay !== undefined && { replay: stringAttribute(replay.name) }),
        },
      }),
    );
    if (($metadata.attempts ?? 1) > 1) {
      // SNS may have taken the attempt that got no answer, too, and offers no way to tell.
      recordLog.warn('PossiblyRepeated');
      await count('PossiblyRepeated', { event });
    }
    return 'Processed';
  }
}

/**
 * The sender of one event's notifications: however often an event comes, people are told once, and once more for each
 * name of a replay that is to tell them again.
 * @param variable the environment variable with the topic's ARN
 */
export function notifier(event: string, variable: 'CHAT_TOPIC_ARN' | 'REVIEW_TOPIC_ARN') {
  const topic = Notifications.fromEnvironment(variable);
  const send = (notification: Notification) => topic.send(notification);
  const sendOnce = oncePerEvent(event, send);
  const sendAgain = oncePerReplay(event, send, sendOnce);
  return (facts: Omit<Notification, 'event'>, context: Context): Promise<EffectOutcome> => {
    const notification = { event, ...facts };
    const { eventId, replay } = notification;
    return replay?.notify
      ? sendAgain({ eventId, replay: replay.name }, notification, context)
      : sendOnce(eventId, notification, context);
  };
}
