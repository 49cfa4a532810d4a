import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import type { Context } from 'aws-lambda';
import { clientSettings } from '../aws-clients.ts';
import { requireEnvironment } from '../environment.ts';
import { POSSIBLY_REPEATED } from '../log-messages.ts';
import { stringAttribute } from '../queue/message.ts';
import { count, log } from '../telemetry.ts';
import type { EffectOutcome } from './event-order.ts';
import { idempotent } from './idempotency.ts';
import {
  type Notification,
  type NotificationContent,
  type NotifiedEvent,
  notificationMessage,
  subjectOf,
} from './notification-message.ts';

/**
 * Makes a function that notifies through a topic: once for each event, however often it arrives, and once more for each
 * name of a replay that notifies.
 * @param variable the environment variable with the topic's ARN
 */
export function notifier<Data extends NotifiedEvent['data']>(
  event: string,
  variable: 'CHAT_TOPIC_ARN' | 'REVIEW_TOPIC_ARN',
  content: (data: Data) => NotificationContent,
) {
  const client = new SNSClient(clientSettings);
  const topicArn = requireEnvironment([variable])[variable];
  const send = idempotent(event, (notification: Notification) => publish(client, topicArn, notification));
  return (
    { eventId, timestamp, effectiveTimestamp, data, replay }: NotifiedEvent & { readonly data: Data },
    context: Context,
  ) => send({ event, eventId, timestamp, effectiveTimestamp, data, replay, ...content(data) }, context);
}

/**
 * Values of attributes that SNS delivers to every subscription. It refuses surrogates, so every character above U+FFFF.
 * If a value is not a JSON string as it is, SNS drops the message at each subscription with a filter policy. A control
 * character, a quotation mark or a backslash would have to be escaped in one. Sources: SNS developer guide, "Amazon SNS
 * message attributes"; https://github.com/aws/aws-sdk-java-v2/issues/5828.
 */
const DELIVERED_BY_SNS = /^[ !#-[\]-\uD7FF\uE000-\uFFFD]+$/;

const snsAttribute = (value: string) => stringAttribute(value, DELIVERED_BY_SNS);

/** Publishes a notification to a topic. Its attributes are for the filter policies of subscriptions. */
async function publish(
  client: SNSClient,
  topicArn: string,
  notification: Notification,
): Promise<EffectOutcome> {
  const { event, eventId, title, data, replay } = notification;
  const { $metadata } = await client.send(
    new PublishCommand({
      TopicArn: topicArn,
      Subject: subjectOf(title),
      MessageStructure: 'json',
      Message: notificationMessage(notification),
      MessageAttributes: {
        event: snsAttribute(event),
        eventId: snsAttribute(eventId),
        ...(data.shop_id !== undefined && { shop_id: snsAttribute(data.shop_id) }),
        ...(replay !== undefined && { replay: snsAttribute(replay.name) }),
      },
    }),
  );
  if (($metadata.attempts ?? 1) > 1) {
    // SNS may also have accepted the attempt that got no answer. It offers no way to find out.
    log.warn(POSSIBLY_REPEATED);
    count(POSSIBLY_REPEATED, { event });
  }
  return 'Processed';
}
