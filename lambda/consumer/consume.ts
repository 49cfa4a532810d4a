import { setTimeout as sleep } from 'node:timers/promises';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { Archive } from '../archive/archive.ts';
import type { ArchiveRecord } from '../archive/record.ts';
import type { EffectOutcome } from '../effects/event-order.ts';
import { tableKey } from '../effects/table-key.ts';
import { describeError, errorText } from '../errors.ts';
import type { EventName } from '../events/catalogue.ts';
import { BURY_FAILED, DEAD_LETTERED, FAILED, HIDE_FAILED, NOT_ARCHIVED, PROCESSED } from '../log-messages.ts';
import { isOutage } from '../outage.ts';
import { MAX_ATTRIBUTE_LENGTH } from '../queue/message.ts';
import { recordLog, withRecordKeys } from '../record-log.ts';
import { count, functionVersion, logger } from '../telemetry.ts';
import { type MessageFacts, payloadOf, type ReceivedEvent, readFacts, readRecord } from './received-event.ts';
import { isPermanent, retryDelaySeconds } from './retry.ts';
import { SourceQueue } from './source-queue.ts';

/**
 * Milliseconds before its timeout at which a function gives up unfinished effects. The rest is needed to archive the
 * finished ones and to delay the retry of the others, one call each.
 */
const OUT_OF_TIME_MARGIN = 9_000;

/** The function's time ran out before the record was done. */
class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/** Never resolves. @throws OutOfTimeError shortly before the function's timeout, or AbortError */
async function outOfTime(context: Context, signal: AbortSignal): Promise<never> {
  await sleep(Math.max(0, context.getRemainingTimeInMillis() - OUT_OF_TIME_MARGIN), undefined, { signal });
  throw new OutOfTimeError('The function ran out of time');
}

/**
 * Receives after which a message that only the archive rejects becomes a dead letter: about an hour. Its effect is
 * done, but while it waits it is in flight. SQS allows about 120,000 messages in flight per queue: at 30 a second, no
 * other message could be received. Source: SQS developer guide, "Message quotas".
 */
const MAX_UNARCHIVED_RECEIVES = 8;

interface Message {
  readonly record: SQSRecord;
  readonly facts: MessageFacts;
}

/** The archive record of a settled message; undefined if the message returns to its queue. */
type Settled = ArchiveRecord | undefined;

/**
 * The handler of one event's queue. It processes the records of a batch in parallel, then archives them in one call. If
 * either fails temporarily, the message waits and is retried, longer each time. If the failure is permanent, or the
 * last attempt failed, the message goes to the dead-letter queue with its reason. The other messages of the batch are
 * done.
 * @param process causes the event's effect. It may be called again with the same event.
 */
export function consume<Name extends EventName>(
  name: Name,
  process: (event: ReceivedEvent<Name>, context: Context) => Promise<EffectOutcome>,
) {
  const source = new SourceQueue();
  const archive = Archive.fromEnvironment();

  /** Adds the keys of the message to all log lines of the work. */
  function logged<Result>({ record, facts }: Message, work: () => Promise<Result>): Promise<Result> {
    const { eventId, requestId, attempt, replay } = facts;
    const keys = { event: name, eventId, requestId, messageId: record.messageId, attempt };
    return withRecordKeys({ ...keys, replay: replay?.name }, work);
  }

  async function settleBatch(messages: readonly Message[], context: Context): Promise<Settled[]> {
    const done = new AbortController();
    const timeout = outOfTime(context, done.signal);
    timeout.catch(() => {});
    try {
      return await Promise.all(
        messages.map((message) => logged(message, () => settle(message, context, timeout))),
      );
    } finally {
      done.abort();
    }
  }

  async function settle(message: Message, context: Context, timeout: Promise<never>): Promise<Settled> {
    // Set as soon as the event is read, so a dead letter has them too.
    const read: { shopId?: string; timestamp?: string } = {};
    const takeEffect = async () => {
      const event = await readRecord(name, message.record, message.facts);
      const { shop_id } = event.data;
      read.timestamp = event.timestamp;
      if (shop_id !== undefined) read.shopId = tableKey(shop_id);
      return await process(event, context);
    };
    try {
      const outcome = await Promise.race([takeEffect(), timeout]);
      await report(outcome, message.facts);
      return archiveRecord(message, outcome, read);
    } catch (error) {
      return settleFailure(message, error, source.maxReceives, read);
    }
  }

  /**
   * A message that was not archived returns to its queue, because effects can be repeated. A dead letter is safe
   * already.
   */
  async function archiveBatch(
    messages: readonly Message[],
    settled: readonly Settled[],
  ): Promise<readonly Settled[]> {
    const records = settled.filter((record) => record !== undefined);
    if (archive === undefined || records.length === 0) return settled;
    const failures = await archive.put(records);
    const failureOf = new Map(records.map((record, index) => [record, failures[index]]));
    return Promise.all(
      messages.map(async (message, index) => {
        const record = settled[index];
        const failure = record && failureOf.get(record);
        return failure ? logged(message, () => settleUnarchived(message, record, failure)) : record;
      }),
    );
  }

  async function report(outcome: EffectOutcome, { receivedAt, replay }: MessageFacts): Promise<void> {
    if (replay !== undefined) {
      recordLog.info(outcome);
      await count('Replayed', { event: name });
      return;
    }
    // The receiver's clock may differ from this one.
    const latencyMs = Math.max(0, Date.now() - Date.parse(receivedAt));
    recordLog.info(outcome, { latencyMs });
    if (outcome !== PROCESSED) await count(outcome, { event: name });
  }

  /**
   * Moves a message to the dead-letter queue, or delays its retry.
   * @param read what could be read of the event
   */
  async function settleFailure(
    message: Message,
    error: unknown,
    maxReceives: number,
    read: Partial<ArchiveRecord> = {},
  ): Promise<Settled> {
    const { record, facts } = message;
    // On later attempts, another version may have failed the message first.
    if (facts.attempt === 1 && !isOutage(error)) await count('VersionError', { version: functionVersion });
    const described = await describeError(error);
    if (isPermanent(error) || facts.attempt >= maxReceives) {
      recordLog.error(DEAD_LETTERED, described);
      await count(DEAD_LETTERED, { event: name });
      const failureReason = errorText(described).slice(0, MAX_ATTRIBUTE_LENGTH);
      // If this fails the message comes back, and after its last receive SQS moves it.
      const isMoved = await succeeds(BURY_FAILED, () => source.sendToDeadLetterQueue(record, failureReason));
      return isMoved ? archiveRecord(message, DEAD_LETTERED, { ...read, failureReason }) : undefined;
    }
    const seconds = retryDelaySeconds(error, facts.attempt, source.firstRetryDelay);
    recordLog.warn(FAILED, { ...described, retryInSeconds: seconds });
    await count(FAILED, { event: name });
    // If this fails the message comes back after the queue's visibility timeout.
    await succeeds(HIDE_FAILED, () => source.delayRetry(record, seconds));
    return undefined;
  }

  async function settleUnarchived(message: Message, record: ArchiveRecord, error: Error): Promise<Settled> {
    if (record.outcome !== DEAD_LETTERED) {
      return settleFailure(message, error, Math.min(MAX_UNARCHIVED_RECEIVES, source.maxReceives));
    }
    recordLog.warn(NOT_ARCHIVED, await describeError(error));
    await count(NOT_ARCHIVED);
    return record;
  }

  function archiveRecord(
    { record, facts }: Message,
    outcome: ArchiveRecord['outcome'],
    more: Partial<ArchiveRecord>,
  ): ArchiveRecord {
    return {
      event: name,
      ...facts,
      ...more,
      outcome,
      settledAt: new Date().toISOString(),
      // The record of a replay has no payload: otherwise it would be kept longer, and replayed twice next time.
      ...(facts.replay === undefined && payloadOf(record)),
    };
  }

  return middy<SQSEvent, SQSBatchResponse>()
    .use(injectLambdaContext(logger, { logEvent: false }))
    .handler(async ({ Records }, context) => {
      const messages = Records.map((record) => ({ record, facts: readFacts(record) }));
      const settled = await archiveBatch(messages, await settleBatch(messages, context));
      const comingBack = messages.filter((_, index) => settled[index] === undefined);
      return {
        batchItemFailures: comingBack.map(({ record }) => ({ itemIdentifier: record.messageId })),
      };
    });
}

/** @returns false if the call failed, which is logged and counted */
async function succeeds(
  failure: typeof BURY_FAILED | typeof HIDE_FAILED,
  call: () => Promise<void>,
): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    recordLog.error(failure, await describeError(error));
    await count(failure);
    return false;
  }
}
