import type { EventName } from '../../../lambda/events/catalogue.ts';
import { ARCHIVE_BUFFER_SECONDS, MAX_FUNCTION_SECONDS, VISIBILITY_TIMEOUTS } from '../../../lambda/limits.ts';
import { queueState, recentMaxima } from '../queues/queue.ts';
import type { Stage } from '../stage.ts';

/** Milliseconds until a local stack has written a record. It buffers for a quarter of a second. */
const LOCAL_DELAY = 2_000;

/** Seconds for Firehose to compress and write an object. An assumption: AWS documents no limit. */
const WRITE_MARGIN = 5 * 60;

/**
 * Milliseconds from settling a message to its record in the archive. The batch ends within the consumer's timeout, then
 * Firehose buffers and writes. If Firehose must retry, which it does for a day, the record is later: see {@link
 * notYetArchived}.
 */
export async function archiveDelay(stack: Stage, events: readonly EventName[]): Promise<number> {
  if (stack.local) return LOCAL_DELAY;
  const timeouts = await Promise.all(
    events.map(async (event) => {
      const { visibility } = await queueState(stack.sqs, stack.event(event).queueUrl);
      return Math.min(MAX_FUNCTION_SECONDS, visibility / VISIBILITY_TIMEOUTS);
    }),
  );
  return (ARCHIVE_BUFFER_SECONDS + Math.max(...timeouts) + WRITE_MARGIN) * 1000;
}

/** Age of the oldest record that a stream has not written yet. */
const FRESHNESS = { Namespace: 'AWS/Firehose', MetricName: 'DeliveryToS3.DataFreshness' };

/**
 * Checks whether Firehose still has records of a window. If S3 rejects them, Firehose retries for a day.
 * @param until end of the window
 * @returns a text for people; undefined if there are none, or this is not measured
 */
export async function notYetArchived(
  stack: Stage,
  events: readonly EventName[],
  until: Date,
): Promise<string | undefined> {
  if (stack.local) return undefined;
  try {
    const ages = await Promise.all(
      events.map(async (event) => {
        const dimension = { Name: 'DeliveryStreamName', Value: stack.event(event).archiveStream };
        // Without a value, nothing was sent.
        const [{ maximum: seconds } = { maximum: 0 }] = await recentMaxima(stack, FRESHNESS, dimension);
        return seconds;
      }),
    );
    const oldest = new Date(Date.now() - Math.max(...ages) * 1000);
    if (oldest >= until) return undefined;
    return `Firehose still has records since ${oldest.toISOString()}. Replay again later under another name.`;
  } catch (error) {
    // A missing permission is not an error: without it, the replay still sends everything that the archive has.
    if (!(error instanceof Error) || !error.name.startsWith('AccessDenied')) throw error;
    return 'It is unknown whether Firehose still has records: permission denied for cloudwatch:GetMetricStatistics.';
  }
}
