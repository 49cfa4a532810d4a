import { GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { MAX_BUFFER_SECONDS, MAX_FUNCTION_SECONDS, VISIBILITY_TIMEOUTS } from '../../../lambda/limits.ts';
import { bufferSeconds } from '../archive/retention.ts';
import type { Stage } from '../stage.ts';

/** Milliseconds until a local stack has written a record. It buffers for a quarter of a second. */
const LOCAL_DELAY = 2_000;

/** Seconds for Firehose to compress and write an object. An assumption: AWS documents no limit. */
const WRITE_MARGIN = 5 * 60;

/**
 * How far back to look for the newest value of a metric, in milliseconds. Firehose publishes every minute, some minutes
 * late.
 */
const METRIC_WINDOW = 10 * 60_000;

/**
 * Milliseconds from settling a message to its record in the archive. The batch ends within the consumer's timeout, then
 * Firehose buffers and writes. If Firehose must retry, which it does for a day, the record is later: see {@link
 * notYetArchived}.
 */
export async function archiveDelay(stack: Stage, events: readonly EventName[]): Promise<number> {
  if (stack.local) return LOCAL_DELAY;
  const buffer = (await bufferSeconds(stack, events)) ?? MAX_BUFFER_SECONDS;
  const timeouts = await Promise.all(events.map((event) => timeout(stack, event)));
  return (buffer + Math.max(...timeouts) + WRITE_MARGIN) * 1000;
}

async function timeout(stack: Stage, event: EventName): Promise<number> {
  const { queueUrl: QueueUrl } = stack.event(event);
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['VisibilityTimeout'] });
  const { Attributes = {} } = await stack.sqs.send(command);
  return Math.min(MAX_FUNCTION_SECONDS, Number(Attributes.VisibilityTimeout) / VISIBILITY_TIMEOUTS);
}

/**
 * Checks whether Firehose still holds records of a window. If S3 rejects them, Firehose retries for a day.
 * @param until end of the window
 * @returns a text for people; undefined if it holds none, or this is not measured
 */
export async function notYetArchived(
  stack: Stage,
  events: readonly EventName[],
  until: Date,
): Promise<string | undefined> {
  if (stack.local) return undefined;
  try {
    const ages = await Promise.all(events.map((event) => oldestUnarchived(stack, event)));
    const oldest = new Date(Date.now() - Math.max(...ages) * 1000);
    if (oldest >= until) return undefined;
    return `Firehose still holds records since ${oldest.toISOString()}. Replay again later under another name.`;
  } catch (error) {
    // Without the permission, the replay sends everything that the archive has.
    if (!(error instanceof Error) || !error.name.startsWith('AccessDenied')) throw error;
    return 'It is unknown whether Firehose still holds records: permission denied for cloudwatch:GetMetricStatistics.';
  }
}

/** Age in seconds of the oldest record that an event's stream has not written yet. 0 if CloudWatch has no value. */
async function oldestUnarchived(stack: Stage, event: EventName): Promise<number> {
  const now = Date.now();
  const { Datapoints = [] } = await stack.cloudwatch.send(
    new GetMetricStatisticsCommand({
      Namespace: 'AWS/Firehose',
      MetricName: 'DeliveryToS3.DataFreshness',
      Dimensions: [{ Name: 'DeliveryStreamName', Value: stack.event(event).archiveStream }],
      StartTime: new Date(now - METRIC_WINDOW),
      EndTime: new Date(now),
      Period: 60,
      Statistics: ['Maximum'],
    }),
  );
  const time = ({ Timestamp }: { Timestamp?: Date | undefined }) => Timestamp?.getTime() ?? 0;
  return Datapoints.toSorted((one, other) => time(other) - time(one))[0]?.Maximum ?? 0;
}
