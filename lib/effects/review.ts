import type { Construct } from 'constructs';
import { subscribeEmails } from '../alarms/alarms.ts';
import { topicLink } from '../alarms/console-links.ts';
import { ProtectedTopic } from '../pipeline/protected-storage.ts';
import type { EffectProps, EffectTarget } from './effect-target.ts';

/** Notifications of reviews, which people get by mail. */
export function review(scope: Construct, { config, alarms, ...stored }: EffectProps): EffectTarget {
  const topic = new ProtectedTopic(scope, 'Review', stored);
  subscribeEmails(topic, config.reviewEmails);
  alarms.add(topic, 'Effects/Review/NotDelivered', { metricsOf: topic, links: [topicLink(topic)] });
  return {
    output: { ReviewTopicArn: topic.topicArn },
    environment: { REVIEW_TOPIC_ARN: topic.topicArn },
    permissions: topic.publishPermissions,
  };
}
