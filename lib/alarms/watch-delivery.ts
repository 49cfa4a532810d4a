import { Duration } from 'aws-cdk-lib';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Alarms } from './alarms.ts';
import { topicLink } from './console-links.ts';

/** Rings where SNS gives up a notification of a topic. @param impact as an alarm's */
export function watchDelivery(topic: Topic, alarms: Alarms, impact: string): void {
  alarms.add(topic, 'NotDelivered', {
    metric: topic.metricNumberOfNotificationsFailed({ period: Duration.minutes(5), statistic: 'Sum' }),
    threshold: 1,
    impact,
    firstStep: 'list who subscribes, and ask each whether they are reached',
    section: 'not-delivered',
    links: [topicLink(topic)],
  });
}
