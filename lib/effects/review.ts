import type { Construct } from 'constructs';
import { type Alarms, subscribeEmails } from '../alarms/alarms.ts';
import { topicLink } from '../alarms/console-links.ts';
import type { StageConfig } from '../config.ts';
import { ProtectedTopic, type StoredProps } from '../pipeline/protected-storage.ts';

interface ReviewProps extends StoredProps {
  readonly config: Pick<StageConfig, 'reviewEmails'>;
  readonly alarms: Alarms;
}

/** Notifications of reviews, which people get by mail. */
export function review(scope: Construct, { config, alarms, ...stored }: ReviewProps) {
  const topic = new ProtectedTopic(scope, 'Review', stored);
  subscribeEmails(topic, config.reviewEmails);
  alarms.add(topic, 'Effects/Review/NotDelivered', { metricsOf: topic, links: [topicLink(topic)] });
  return {
    output: { ReviewTopicArn: topic.topicArn },
    environment: { REVIEW_TOPIC_ARN: topic.topicArn },
    permissions: topic.publishPermissions,
  };
}
