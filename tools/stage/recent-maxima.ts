import { GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import type { Stage } from './stage.ts';

/** How far back to look, in milliseconds. AWS publishes metrics every minute, some minutes late. */
const METRIC_WINDOW = 15 * 60_000;

/** The maxima of a metric in the last minutes, newest first. Empty if nothing was measured. */
export async function recentMaxima(
  { cloudwatch }: Pick<Stage, 'cloudwatch'>,
  metric: { readonly Namespace: string; readonly MetricName: string },
  dimension: { readonly Name: string; readonly Value: string },
): Promise<{ readonly at: number; readonly maximum: number }[]> {
  const now = Date.now();
  const { Datapoints = [] } = await cloudwatch.send(
    new GetMetricStatisticsCommand({
      ...metric,
      Dimensions: [dimension],
      StartTime: new Date(now - METRIC_WINDOW),
      EndTime: new Date(now),
      Period: 60,
      Statistics: ['Maximum'],
    }),
  );
  return Datapoints.map(({ Timestamp, Maximum = 0 }) => ({
    at: Timestamp?.getTime() ?? now,
    maximum: Maximum,
  })).sort((one, other) => other.at - one.at);
}
