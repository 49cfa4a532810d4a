import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { describeError } from '../aws-clients.ts';
import type { EventName } from '../contract/catalogue.ts';
import type { EffectOutcome } from '../effects/outcome.ts';
import { count, logger } from '../telemetry.ts';
import { type ReceivedEvent, readRecord } from './received-event.ts';

/**
 * The handler of one event's queue. The records of a batch are processed in parallel; those that fail
 * are reported, and SQS delivers them again until its redrive policy moves them to the dead-letter
 * queue, while the rest of the batch is done.
 * @param process has the event's effect. It may be called again with the same event.
 */
export function consume<Name extends EventName>(
  name: Name,
  process: (event: ReceivedEvent<Name>) => Promise<EffectOutcome>,
) {
  const processor = new BatchProcessor(EventType.SQS);

  async function processRecord(record: SQSRecord): Promise<void> {
    const facts = {
      event: name,
      messageId: record.messageId,
      attempt: Number(record.attributes.ApproximateReceiveCount),
    };
    try {
      const event = readRecord(name, record);
      const { eventId, requestId } = event;
      Object.assign(facts, { eventId, requestId });
      const outcome = await process(event);
      logger.info(outcome, facts);
      count(outcome, { event: name });
    } catch (error) {
      logger.error('Failed', { ...facts, ...describeError(error) });
      count('Failed', { event: name });
      throw error;
    }
  }

  return middy<SQSEvent, SQSBatchResponse>()
    .use(injectLambdaContext(logger, { logEvent: false, resetKeys: true }))
    .handler((event, context) =>
      processPartialResponse(event, processRecord, processor, { context, throwOnFullBatchFailure: false }),
    );
}
