import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, type Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { AlarmProps, Alarms } from './alarms.ts';

/**
 * Rings where nothing was counted for so many hours, one after the other. No value is silence, too: a new stack
 * rings until the first delivery.
 */
export function watchSilence(
  scope: Construct,
  metric: Metric,
  hours: number,
  alarms: Alarms,
  text: Pick<AlarmProps, 'impact' | 'firstStep' | 'links'>,
): void {
  alarms.add(scope, 'Quiet', {
    metric: metric.with({ period: Duration.hours(1), statistic: 'Sum' }),
    threshold: 1,
    comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
    missingData: TreatMissingData.BREACHING,
    periods: hours,
    section: 'quiet',
    ...text,
  });
}
