import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { stringAttribute } from '../message-attribute.ts';
import { type Notification, notificationMessage } from './notification-text.ts';
import type { EffectOutcome } from './outcome.ts';

/** Where a notification comes from: filter policies of subscriptions choose by these. */
export interface NotificationSource {
  readonly event: string;
  readonly eventId: string;
  readonly shopId: string | undefined;
}

/** A topic that people are told through. */
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

  async send(
    notification: Notification,
    { event, eventId, shopId }: NotificationSource,
  ): Promise<EffectOutcome> {
    await this.#client.send(
      new PublishCommand({
        TopicArn: this.#topicArn,
        Subject: notification.title,
        MessageStructure: 'json',
        Message: notificationMessage(notification),
        MessageAttributes: {
          event: stringAttribute(event),
          eventId: stringAttribute(eventId),
          ...(shopId !== undefined && { shop_id: stringAttribute(shopId) }),
        },
      }),
    );
    return 'Processed';
  }
}
