import { setTimeout as sleep } from 'node:timers/promises';
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { describeError } from '../aws-clients.ts';
import type { EventName } from '../contract/catalogue.ts';
import type { EffectOutcome } from '../effects/outcome.ts';
import { count, logger } from '../telemetry.ts';
import { type ReceivedEvent, readRecord } from './received-event.ts';
import { backOffSeconds, isHopeless } from './retry.ts';
import { SourceQueue } from './source-queue.ts';

/** Milliseconds before its time-out at which a function reports what it has not finished. */
const OUT_OF_TIME_MARGIN = 2_000;

/** The function's time ran out before the record was done. */
class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/**
 * The handler of one event's queue. The records of a batch are processed in parallel. Of those that
 * fail, what may pass waits longer each time and is tried again; what cannot, or has been tried often
 * enough, goes to the dead-letter queue with its reason. The rest of the batch is done.
 * @param process has the event's effect. It may be called again with the same event.
 */
export function consume<Name extends EventName>(
  name: Name,
  process: (event: ReceivedEvent<Name>, context: Context) => Promise<EffectOutcome>,
) {
  const processor = new BatchProcessor(EventType.SQS);
  const source = SourceQueue.fromEnvironment();

  async function processRecord(record: SQSRecord, context: Context): Promise<void> {
    const attempt = Number(record.attributes.ApproximateReceiveCount);
    const facts: Record<string, unknown> = { event: name, messageId: record.messageId, attempt };
    try {
      const event = await readRecord(name, record);
      facts.eventId = event.eventId;
      facts.requestId = event.requestId;
      const outcome = await inTime(process(event, context), context);
      logger.info(outcome, facts);
      count(outcome, { event: name });
    } catch (error) {
      await settleFailure(record, attempt, error, facts);
    }
  }

  /** @throws the error, where the message stays on its queue */
  async function settleFailure(
    record: SQSRecord,
    attempt: number,
    error: unknown,
    facts: Record<string, unknown>,
  ): Promise<void> {
    const why = describeError(error);
    if (isHopeless(error) || attempt >= source.maximumReceives) {
      await source.bury(record, [why.error, why.message].filter(Boolean).join(': '));
      logger.error('DeadLettered', { ...facts, ...why });
      count('DeadLettered', { event: name });
      return;
    }
    const seconds = backOffSeconds(attempt, source.firstRetryDelay);
    logger.warn('Failed', { ...facts, ...why, retryInSeconds: seconds });
    count('Failed', { event: name });
    await source.hide(record, seconds);
    throw error;
  }

  return middy<SQSEvent, SQSBatchResponse>()
    .use(injectLambdaContext(logger, { logEvent: false, resetKeys: true }))
    .handler((event, context) =>
      processPartialResponse(event, (record: SQSRecord) => processRecord(record, context), processor, {
        throwOnFullBatchFailure: false,
      }),
    );
}

/** @throws OutOfTimeError where the work is not done shortly before the function's time-out */
async function inTime<Result>(work: Promise<Result>, context: Context): Promise<Result> {
  const timer = new AbortController();
  const limit = Math.max(0, context.getRemainingTimeInMillis() - OUT_OF_TIME_MARGIN);
  const outOfTime = sleep(limit, undefined, { signal: timer.signal }).then(() => {
    throw new OutOfTimeError('The function ran out of time');
  });
  try {
    return await Promise.race([work, outOfTime]);
  } finally {
    timer.abort();
    outOfTime.catch(() => {});
  }
}
