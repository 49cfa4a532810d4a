import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { type AlarmProps, type Alarms, EACH_MINUTE } from './alarms.ts';
import { queueLink } from './console-links.ts';

/** Watches a queue that should be empty: on as long as it is not. What comes rings anew besides (`watch-consumers.ts`). */
export function watchLastStop(
  queue: Queue,
  alarms: Alarms,
  text: Pick<AlarmProps, 'impact' | 'firstStep' | 'section'>,
): void {
  alarms.add(queue, 'NotEmpty', {
    metric: queue.metricApproximateNumberOfMessagesVisible({ period: EACH_MINUTE, statistic: 'Maximum' }),
    threshold: 1,
    links: [queueLink(queue)],
    ...text,
  });
}
