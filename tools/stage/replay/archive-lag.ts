import { GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { bufferSeconds } from '../archive/retention.ts';
import type { Stage } from '../stage.ts';

/** Milliseconds within which a local stack has written a record: it collects for a quarter of a second. */
const LOCAL_DELAY = 2_000;

/** Seconds for which Firehose collects, and a consumer's timeout, at most. */
const LONGEST_BUFFER = 900;
const LONGEST_BATCH = 900;

/** Seconds that Firehose may take to compress and write an object. An assumption: AWS documents none. */
const WRITE_MARGIN = 5 * 60;

/** A queue hides a message for so many timeouts of its consumer (`lib/pipeline/event-pipeline.ts`). */
const VISIBILITY_TIMEOUTS = 6;

/** Milliseconds back to look for a metric's newest value: Firehose publishes each minute, some minutes late. */
const METRIC_WINDOW = 10 * 60_000;

/**
 * How long after it was settled a message is in the archive, in milliseconds: its batch ends within the consumer's
 * timeout, and Firehose collects and writes. If Firehose has to retry, which it does for a day, it is later:
 * {@link notYetArchived} finds that.
 */
export async function archiveDelay(stack: Stage, events: readonly EventName[]): Promise<number> {
  if (stack.local) return LOCAL_DELAY;
  const buffer = (await bufferSeconds(stack, events)) ?? LONGEST_BUFFER;
  const timeouts = await Promise.all(events.map((event) => timeout(stack, event)));
  return (buffer + Math.max(...timeouts) + WRITE_MARGIN) * 1000;
}

async function timeout(stack: Stage, event: EventName): Promise<number> {
  const { queueUrl: QueueUrl } = stack.event(event);
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['VisibilityTimeout'] });
  const { Attributes = {} } = await stack.sqs.send(command);
  return Math.min(LONGEST_BATCH, Number(Attributes.VisibilityTimeout) / VISIBILITY_TIMEOUTS);
}

/**
 * Asks whether Firehose still holds records of a window. If S3 refuses them, it retries for a day.
 * @param until end of the window
 * @returns a text for people; undefined if it holds none, or it is not measured
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
    // Everything there is was sent.
    if (!(error instanceof Error) || !error.name.startsWith('AccessDenied')) throw error;
    return 'It is unknown whether Firehose still holds records: permission denied for cloudwatch:GetMetricStatistics.';
  }
}

/** Age in seconds of the oldest record that an event's stream has not written yet; 0 if CloudWatch knows none. */
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
