import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { EventName } from '../../../lambda/contract/catalogue.ts';
import { pascalCase } from '../../../lambda/contract/event-names.ts';
import { bufferSeconds } from '../archive/retention.ts';
import type { FoundStack } from '../stack.ts';

/** Milliseconds within which a local stack has written what it archives: it collects for a quarter of a second. */
const LOCAL_DELAY = 2_000;

/** What Firehose collects for, and a consumer's time-out, at most, in seconds. */
const LONGEST_BUFFER = 900;
const LONGEST_BATCH = 900;

/** A queue hides a message for so many time-outs of its consumer (`lib/event-pipeline.ts`). */
const VISIBILITY_TIMEOUTS = 6;

/**
 * How long after it was settled a message is in the archive at the latest, in milliseconds: its batch ends within the
 * consumer's time-out, and Firehose then collects for its buffer. Where Firehose has to try again, it is later: an alarm
 * rings for that.
 */
export async function archiveDelay(stack: FoundStack, events: readonly EventName[]): Promise<number> {
  if (stack.local) return LOCAL_DELAY;
  const [buffer = LONGEST_BUFFER, ...timeOuts] = await Promise.all([
    bufferSeconds(stack, events),
    ...events.map((event) => timeOut(stack, event)),
  ]);
  return (buffer + Math.max(...timeOuts.map((seconds = LONGEST_BATCH) => seconds))) * 1000;
}

async function timeOut({ sqs, outputs }: FoundStack, event: EventName): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: outputs[`${pascalCase(event)}QueueUrl`],
      AttributeNames: ['VisibilityTimeout'],
    }),
  );
  return Math.min(LONGEST_BATCH, Number(Attributes.VisibilityTimeout) / VISIBILITY_TIMEOUTS);
}
