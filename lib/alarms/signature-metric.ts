import { Stack } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { SMOKE_TEST_PREFIX } from '../../lambda/smoke-test/request-id.ts';
import { saying } from './console-links.ts';
import { countLines } from './counted-metrics.ts';

/** Lines of the receiver about a delivery whose signature was right, whatever became of it. */
export const VERIFYING = saying('Accepted', 'Parked', 'Unusable');

/** Its lines about a well-formed signature that was wrong; that of the smoke test is meant to be. */
export const WRONGLY_SIGNED = `{ $.message = "Rejected" && $.reason = "wrong-signature" && $.requestId != "${SMOKE_TEST_PREFIX}*" }`;

/**
 * The metric `Verified`: 1 for each delivery that proves the secret, 0 for each that was signed with another. So
 * its maximum tells wrong signatures with right ones between them from wrong ones alone, and those from silence,
 * on one plain metric. Filters count it from the receiver's log, and a request takes no longer for it. Source:
 * CloudWatch Logs user guide, "Using filter patterns to match terms in JSON log events".
 */
export function verified(receiverLog: LogGroup): Metric {
  countLines(receiverLog, 'Verified', { id: 'WronglySigned', pattern: WRONGLY_SIGNED, value: '0' });
  countLines(receiverLog, 'Verified', { id: 'Verified', pattern: VERIFYING });
  return new Metric({ namespace: Stack.of(receiverLog).stackName, metricName: 'Verified' });
}
