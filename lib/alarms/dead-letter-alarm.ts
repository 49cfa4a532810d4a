import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { LONGEST_LOOK_SECONDS } from '../pipeline/longest-look.ts';
import { type AlarmProps, type Alarms, EACH_MINUTE } from './alarms.ts';
import { queueLink } from './console-links.ts';

/**
 * Watches a queue that should be empty: on as long as it is not. A look hides its messages, so the alarm ends only when none
 * was visible for longer than a look can take. Each new message also rings by itself (`watch-consumers.ts`).
 */
export function watchLastStop(
  queue: Queue,
  alarms: Alarms,
  text: Pick<AlarmProps, 'impact' | 'firstStep' | 'section'>,
): void {
  alarms.add(queue, 'NotEmpty', {
    metric: queue.metricApproximateNumberOfMessagesVisible({ period: EACH_MINUTE, statistic: 'Maximum' }),
    threshold: 1,
    periods: LONGEST_LOOK_SECONDS / EACH_MINUTE.toSeconds() + 1,
    periodsAtThreshold: 1,
    links: [queueLink(queue)],
    ...text,
  });
}
