import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { type AlarmProps, type Alarms, EACH_MINUTE } from './alarms.ts';
import { queueLink } from './console-links.ts';

/**
 * Watches a queue that should be empty: one alarm is on as long as it is not; the other rings anew for each
 * message that our functions put there, and sooner, as SQS' metrics of an idle queue come late.
 * @param arrivals counts those messages
 */
export function watchLastStop(
  queue: Queue,
  arrivals: Metric,
  alarms: Alarms,
  text: Pick<AlarmProps, 'impact' | 'firstStep' | 'section'>,
): void {
  const links = [queueLink(queue)] as const;
  alarms.add(queue, 'NotEmpty', {
    metric: queue.metricApproximateNumberOfMessagesVisible({ period: EACH_MINUTE, statistic: 'Maximum' }),
    threshold: 1,
    links,
    ...text,
  });
  alarms.add(queue, 'New', { metric: arrivals, threshold: 1, links, ...text });
}
