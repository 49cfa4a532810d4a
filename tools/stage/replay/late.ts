import { GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { pascalCase } from '../../../lambda/contract/event-names.ts';
import { bufferSeconds } from '../archive/retention.ts';
import type { Stage } from '../stage.ts';

/** Milliseconds within which a local stack has written what it archives: it collects for a quarter of a second. */
const LOCAL_DELAY = 2_000;

/** What Firehose collects for, and a consumer's time-out, at most, in seconds. */
const LONGEST_BUFFER = 900;
const LONGEST_BATCH = 900;

/** Seconds that Firehose may take to compress an object and put it: assumed, as AWS gives none. */
const WRITE_MARGIN = 5 * 60;

/** A queue hides a message for so many time-outs of its consumer (`lib/event-pipeline.ts`). */
const VISIBILITY_TIMEOUTS = 6;

/** Milliseconds back in which the newest value of a metric is looked for: Firehose's come each minute, some minutes late. */
const METRIC_WINDOW = 10 * 60_000;

/**
 * How long after it was settled a message is in the archive, in milliseconds: its batch ends within the consumer's
 * time-out, Firehose then collects for its buffer, and writes. Where Firehose has to try again, which it does for a day,
 * it is later: {@link heldBack} finds that.
 */
export async function archiveDelay(stack: Stage, events: readonly EventName[]): Promise<number> {
  if (stack.local) return LOCAL_DELAY;
  const [buffer = LONGEST_BUFFER, ...timeOuts] = await Promise.all([
    bufferSeconds(stack, events),
    ...events.map((event) => timeOut(stack, event)),
  ]);
  return (buffer + Math.max(...timeOuts.map((seconds = LONGEST_BATCH) => seconds)) + WRITE_MARGIN) * 1000;
}

async function timeOut({ sqs, outputs }: Stage, event: EventName): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: outputs[`${pascalCase(event)}QueueUrl`],
      AttributeNames: ['VisibilityTimeout'],
    }),
  );
  return Math.min(LONGEST_BATCH, Number(Attributes.VisibilityTimeout) / VISIBILITY_TIMEOUTS);
}

/**
 * Asks whether Firehose has yet to write some of a window, which it tries for a day where S3 refuses.
 * @param until end of the window
 * @returns what to tell people; undefined where nothing of the window is held, or nobody measures
 */
export async function heldBack(
  stack: Stage,
  events: readonly EventName[],
  until: Date,
): Promise<string | undefined> {
  if (stack.local) return undefined;
  try {
    const ages = await Promise.all(events.map((event) => oldestHeld(stack, event)));
    const oldest = new Date(Date.now() - Math.max(...ages) * 1000);
    if (oldest >= until) return undefined;
    return `Firehose still holds records from ${oldest.toISOString()} on: run it again under another name later.`;
  } catch (error) {
    // All was sent that there is; who may not ask is told so.
    if (!(error instanceof Error) || !error.name.startsWith('AccessDenied')) throw error;
    return 'Whether Firehose still holds records is not known: cloudwatch:GetMetricStatistics is denied.';
  }
}

/** Age in seconds of the oldest record that an event's stream has yet to write; 0 where CloudWatch knows none. */
async function oldestHeld({ cloudwatch, outputs }: Stage, event: EventName): Promise<number> {
  const now = Date.now();
  const { Datapoints = [] } = await cloudwatch.send(
    new GetMetricStatisticsCommand({
      Namespace: 'AWS/Firehose',
      MetricName: 'DeliveryToS3.DataFreshness',
      Dimensions: [{ Name: 'DeliveryStreamName', Value: outputs[`${pascalCase(event)}ArchiveStream`] }],
      StartTime: new Date(now - METRIC_WINDOW),
      EndTime: new Date(now),
      Period: 60,
      Statistics: ['Maximum'],
    }),
  );
  const time = ({ Timestamp }: { Timestamp?: Date | undefined }) => Timestamp?.getTime() ?? 0;
  return Datapoints.toSorted((one, other) => time(other) - time(one))[0]?.Maximum ?? 0;
}
