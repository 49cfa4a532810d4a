import { setTimeout as sleep } from 'node:timers/promises';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { Archive } from '../archive/archive.ts';
import type { EffectOutcome } from '../effects/event-order.ts';
import { type EventPlace, FirstReceipts } from '../effects/first-receipts.ts';
import { tableKey } from '../effects/item-values.ts';
import type { EventName } from '../events/catalogue.ts';
import { OUT_OF_TIME_MARGIN } from '../limits.ts';
import { STARTED } from '../log-messages.ts';
import { log, startInvocation } from '../telemetry.ts';
import { type ConsumedMessage, MessageSettler, type ReadFields, type Settlement } from './message-settler.ts';
import { payloadOf, type ReceivedEvent, readMetadata, readRecord } from './received-event.ts';

const OUT_OF_TIME = 'The function ran out of time';

/** The function's timeout was near before the effect was complete. */
class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/**
 * Waits until the function is out of time. Never resolves.
 * @throws OutOfTimeError shortly before the function's timeout, or AbortError
 */
async function outOfTime(context: Context, signal: AbortSignal): Promise<never> {
  await sleep(Math.max(0, context.getRemainingTimeInMillis() - OUT_OF_TIME_MARGIN), undefined, { signal });
  throw new OutOfTimeError(OUT_OF_TIME);
}

/**
 * The handler of one event's queue. It processes the records of a batch in parallel, then archives them in one call. If
 * the effect or the archive fails temporarily, the message waits and is retried, longer each time. If the failure is
 * permanent, or the last attempt failed, the message goes to the dead-letter queue with its reason. The other messages
 * of the batch are not affected.
 * @param process causes the event's effect. It may be called again with the same event
 * @example
 * const cast = new Cast();
 * export const handler = consume('girl.deleted', (event) => cast.remove({ girlId: event.data.girl_id }, event));
 */
export function consume<Name extends EventName>(
  name: Name,
  process: (event: ReceivedEvent<Name> & EventPlace, context: Context) => Promise<EffectOutcome>,
) {
  const settler = new MessageSettler(name);
  const receipts = new FirstReceipts();
  const archive = Archive.fromEnvironment();

  async function settleBatch(messages: readonly ConsumedMessage[], context: Context): Promise<Settlement[]> {
    const done = new AbortController();
    const timeout = outOfTime(context, done.signal);
    timeout.catch(() => {});
    const settleOne = (message: ConsumedMessage) =>
      settler.logged(message, () => settle(message, context, timeout));
    const { small = [], large = [] } = Object.groupBy(messages, ({ record }) =>
      'payloadKey' in payloadOf(record) ? 'large' : 'small',
    );
    try {
      const settled = await Promise.all([
        // One after the other: a parsed payload of 5.9 MB can take half of the function's memory.
        Array.fromAsync(large, settleOne),
        ...small.map(settleOne),
      ]);
      return settled.flat();
    } finally {
      done.abort();
    }
  }

  async function settle(
    message: ConsumedMessage,
    context: Context,
    timeout: Promise<never>,
  ): Promise<Settlement> {
    // A first attempt logs no start: if the first attempt crashes, the start of the second attempt shows the crash.
    if (message.metadata.attempt > 1) log.info(STARTED);
    const read: ReadFields = {};
    try {
      const outcome = await Promise.race([takeEffect(message, context, read), timeout]);
      return await settler.processed(message, outcome, read);
    } catch (error) {
      return await settler.failed(message, error, read);
    }
  }

  /** @param read is filled as soon as the event is read, so that the record of a dead letter has these fields too */
  async function takeEffect({ record, metadata }: ConsumedMessage, context: Context, read: ReadFields) {
    // A large message may have its turn after the time is up.
    if (context.getRemainingTimeInMillis() <= OUT_OF_TIME_MARGIN) throw new OutOfTimeError(OUT_OF_TIME);
    const event = await readRecord(name, record, metadata);
    const shopId = 'shop_id' in event.data ? event.data.shop_id : undefined;
    read.timestamp = event.timestamp;
    if (shopId !== undefined) read.shopId = tableKey(shopId);
    return await process({ ...event, ...(await receipts.placeOf(event)) }, context);
  }

  async function archiveBatch(settlements: readonly Settlement[]): Promise<readonly Settlement[]> {
    const settled = settlements.filter((one) => one.record !== undefined);
    if (archive === undefined || settled.length === 0) return settlements;
    const failures = await archive.put(settled.map(({ record }) => record));
    const archived = settled.map((one, index) => {
      const failure = failures[index];
      return failure ? settler.logged(one.message, () => settler.notArchived(one, failure)) : one;
    });
    return [...settlements.filter(({ record }) => !record), ...(await Promise.all(archived))];
  }

  return middy<SQSEvent, SQSBatchResponse>()
    .before(({ context }) => startInvocation(context))
    .handler(async ({ Records }, context) => {
      const messages = Records.map((record) => ({ record, metadata: readMetadata(record) }));
      const settlements = await archiveBatch(await settleBatch(messages, context));
      const returning = settlements.filter(({ record }) => !record);
      return {
        batchItemFailures: returning.map(({ message }) => ({ itemIdentifier: message.record.messageId })),
      };
    });
}
