import { setTimeout as sleep } from 'node:timers/promises';
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { describeError, errorText } from '../aws-clients.ts';
import type { EventName } from '../contract/catalogue.ts';
import type { EffectOutcome } from '../effects/outcome.ts';
import { recordLog, withRecordKeys } from '../record-log.ts';
import { count, logger } from '../telemetry.ts';
import { type ReceivedEvent, readIds, readRecord } from './received-event.ts';
import { backOffSeconds, isHopeless } from './retry.ts';
import { SourceQueue } from './source-queue.ts';

/** Milliseconds before its time-out at which a function gives up what it has not finished: time to hide it. */
const OUT_OF_TIME_MARGIN = 5_000;

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
    const keys = { event: name, ...readIds(record), messageId: record.messageId, attempt };
    await withRecordKeys(keys, async () => {
      try {
        const { outcome, latencyMs } = await inTime(takeEffect(record, context), context);
        recordLog.info(outcome, { latencyMs });
        count(outcome, { event: name }, { EffectLatency: latencyMs });
      } catch (error) {
        await settleFailure(record, attempt, error);
      }
    });
  }

  async function takeEffect(record: SQSRecord, context: Context) {
    const event = await readRecord(name, record);
    const outcome = await process(event, context);
    // The receiver's clock and this one are not the same.
    return { outcome, latencyMs: Math.max(0, Date.now() - Date.parse(event.receivedAt)) };
  }

  /** @throws the error, where the message stays on its queue */
  async function settleFailure(record: SQSRecord, attempt: number, error: unknown): Promise<void> {
    if (isHopeless(error) || attempt >= source.maximumReceives) {
      recordLog.error('DeadLettered', await describeError(error));
      count('DeadLettered', { event: name });
      // Where this fails the message comes back, and after its last receive SQS moves it.
      await telling('BuryFailed', () => source.bury(record, errorText(error)));
      return;
    }
    const seconds = backOffSeconds(attempt, source.firstRetryDelay);
    recordLog.warn('Failed', { ...(await describeError(error)), retryInSeconds: seconds });
    count('Failed', { event: name });
    // Where this fails the message comes back after the queue's visibility timeout.
    await telling('HideFailed', () => source.hide(record, seconds));
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

/** Carries out a call, and logs its failure before it is thrown. */
async function telling(failure: 'BuryFailed' | 'HideFailed', call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (error) {
    recordLog.error(failure, await describeError(error));
    count(failure);
    throw error;
  }
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
