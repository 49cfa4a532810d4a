import { GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import type { Stage } from '../stage.ts';

/** How far back the age of the oldest message is looked for, in milliseconds: SQS' metrics come late. */
const METRIC_WINDOW = 15 * 60 * 1000;

/** When the oldest message of a queue came, in epoch milliseconds; undefined where CloudWatch does not know. */
export async function oldestMessage(
  { cloudwatch }: Pick<Stage, 'cloudwatch'>,
  queueArn: string,
): Promise<number | undefined> {
  const now = Date.now();
  const { Datapoints = [] } = await cloudwatch.send(
    new GetMetricStatisticsCommand({
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateAgeOfOldestMessage',
      Dimensions: [{ Name: 'QueueName', Value: queueArn.split(':').at(-1) }],
      StartTime: new Date(now - METRIC_WINDOW),
      EndTime: new Date(now),
      Period: 60,
      Statistics: ['Maximum'],
    }),
  );
  const times = Datapoints.map(
    ({ Timestamp, Maximum = 0 }) => (Timestamp?.getTime() ?? now) - Maximum * 1000,
  );
  return times.length === 0 ? undefined : Math.min(...times);
}
