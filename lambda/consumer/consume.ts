import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { Archive } from '../archive/archive.ts';
import type { ArchiveRecord } from '../archive/record.ts';
import { describeError } from '../aws-clients.ts';
import type { EffectOutcome } from '../effects/outcome.ts';
import { tableKey } from '../effects/table-key.ts';
import { errorText } from '../error-text.ts';
import type { EventName } from '../events/catalogue.ts';
import { MAXIMUM_ATTRIBUTE_LENGTH } from '../message-attribute.ts';
import { recordLog, withRecordKeys } from '../record-log.ts';
import { count, functionVersion, logger } from '../telemetry.ts';
import { type MessageFacts, payloadOf, type ReceivedEvent, readFacts, readRecord } from './received-event.ts';
import { backOffSeconds, isHopeless, isOutage } from './retry.ts';
import { SourceQueue } from './source-queue.ts';

/**
 * Milliseconds before its time-out at which a function gives up the effects that it has not finished: time to archive
 * the others and to hide these, one call each.
 */
const OUT_OF_TIME_MARGIN = 9_000;

/** The function's time ran out before the record was done. */
class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/** Ends the work on a batch shortly before the function's time-out. */
class Deadline implements Disposable {
  readonly #passed = Promise.withResolvers<never>();
  readonly #timer: NodeJS.Timeout;

  constructor(context: Context) {
    const limit = Math.max(0, context.getRemainingTimeInMillis() - OUT_OF_TIME_MARGIN);
    this.#timer = setTimeout(
      () => this.#passed.reject(new OutOfTimeError('The function ran out of time')),
      limit,
    );
    this.#passed.promise.catch(() => {});
  }

  /** @throws OutOfTimeError where the work is not done by then */
  async ends<Result>(work: Promise<Result>): Promise<Result> {
    return await Promise.race([work, this.#passed.promise]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Receives after which a message that only the archive refuses is a dead letter: an hour. Its effect is had, and what
 * waits is in flight, of which SQS allows a queue some 120,000: at 30 a second no other message would get its effect.
 * Source: SQS developer guide, "Message quotas".
 */
const UNARCHIVED_RECEIVES = 8;

/** What settles a failure. */
interface FailureOptions {
  /** What could be read of the event. */
  readonly read?: Pick<ArchiveRecord, 'shopId' | 'timestamp'>;
  /** After which it is a dead letter. @default those of the queue */
  readonly receives?: number;
}

/** A message of a batch. */
interface Message {
  readonly record: SQSRecord;
  readonly facts: MessageFacts;
  /** 1 for the first receive. */
  readonly attempt: number;
}

/** A message after its attempt. */
interface Settled extends Message {
  /** What the archive is to keep of it; undefined of a message that comes back. */
  readonly entry?: ArchiveRecord | undefined;
}

/**
 * The handler of one event's queue. The records of a batch are processed in parallel, then archived in one call. Of
 * those that fail in either, what may pass waits longer each time and is tried again; what cannot, or has been tried
 * often enough, goes to the dead-letter queue with its reason. The rest of the batch is done.
 * @param process has the event's effect. It may be called again with the same event.
 */
export function consume<Name extends EventName>(
  name: Name,
  process: (event: ReceivedEvent<Name>, context: Context) => Promise<EffectOutcome>,
) {
  const source = SourceQueue.fromEnvironment();
  const archive = Archive.fromEnvironment();

  async function settleBatch(records: readonly SQSRecord[], context: Context): Promise<Settled[]> {
    const messages = records.map((record) => ({
      record,
      facts: readFacts(record),
      attempt: Number(record.attributes.ApproximateReceiveCount),
    }));
    const settled = await settleAll(messages, context);
    const entries = settled.flatMap(({ entry }) => entry ?? []);
    if (archive === undefined || entries.length === 0) return settled;
    const failures = await archive.put(entries);
    const failureOf = new Map(entries.map((entry, index) => [entry, failures[index]]));
    return Promise.all(
      settled.map((message) => {
        const failure = message.entry && failureOf.get(message.entry);
        return failure === undefined ? message : logged(message, () => settleUnarchived(message, failure));
      }),
    );
  }

  async function settleAll(messages: readonly Message[], context: Context): Promise<Settled[]> {
    using deadline = new Deadline(context);
    return await Promise.all(
      messages.map((message) => logged(message, () => settle(message, context, deadline))),
    );
  }

  /** Log lines of the work say which message it is about. */
  function logged<Result>({ record, facts, attempt }: Message, work: () => Promise<Result>): Promise<Result> {
    const { eventId, requestId, replay } = facts;
    const keys = { event: name, eventId, requestId, messageId: record.messageId, attempt };
    return withRecordKeys({ ...keys, replay: replay?.name }, work);
  }

  async function settle(message: Message, context: Context, deadline: Deadline): Promise<Settled> {
    // Known as soon as the event is read, also of one that becomes a dead letter.
    const read: { shopId?: string; timestamp?: string } = {};
    const takeEffect = async () => {
      const event = await readRecord(name, message.record, message.facts);
      const { shop_id } = event.data;
      read.timestamp = event.timestamp;
      if (shop_id !== undefined) read.shopId = tableKey(shop_id);
      return await process(event, context);
    };
    try {
      const outcome = await deadline.ends(takeEffect());
      await tell(outcome, message.facts);
      return { ...message, entry: entryOf(message, outcome, read) };
    } catch (error) {
      return settleFailure(message, error, { read });
    }
  }

  async function tell(outcome: EffectOutcome, { receivedAt, replay }: MessageFacts): Promise<void> {
    if (replay !== undefined) {
      recordLog.info(outcome);
      await count('Replayed', { event: name });
      return;
    }
    // The receiver's clock and this one are not the same.
    const latencyMs = Math.max(0, Date.now() - Date.parse(receivedAt));
    recordLog.info(outcome, { latencyMs });
    if (outcome !== 'Processed') await count(outcome, { event: name });
  }

  /** @returns the message, with an entry where it is on the dead-letter queue; without one it comes back */
  async function settleFailure(
    message: Message,
    error: unknown,
    { read = {}, receives = source.maximumReceives }: FailureOptions = {},
  ): Promise<Settled> {
    const { record, attempt } = message;
    // A later attempt may be of a message that another version failed first.
    if (attempt === 1 && !isOutage(error)) await count('VersionError', { version: functionVersion });
    const described = await describeError(error);
    if (isHopeless(error) || attempt >= receives) {
      recordLog.error('DeadLettered', described);
      await count('DeadLettered', { event: name });
      const failureReason = errorText(described).slice(0, MAXIMUM_ATTRIBUTE_LENGTH);
      // Where this fails the message comes back, and after its last receive SQS moves it.
      const isBuried = await telling('BuryFailed', () => source.bury(record, failureReason));
      return isBuried
        ? { ...message, entry: entryOf(message, 'DeadLettered', { ...read, failureReason }) }
        : { ...message, entry: undefined };
    }
    const seconds = backOffSeconds(attempt, source.firstRetryDelay);
    recordLog.warn('Failed', { ...described, retryInSeconds: seconds });
    await count('Failed', { event: name });
    // Where this fails the message comes back after the queue's visibility timeout.
    await telling('HideFailed', () => source.hide(record, seconds));
    return { ...message, entry: undefined };
  }

  /** What the archive did not take comes back, as effects can be repeated; a dead letter is safe where it is. */
  async function settleUnarchived(message: Settled, error: Error): Promise<Settled> {
    if (message.entry?.outcome !== 'DeadLettered') {
      return settleFailure(message, error, {
        receives: Math.min(UNARCHIVED_RECEIVES, source.maximumReceives),
      });
    }
    recordLog.warn('NotArchived', await describeError(error));
    await count('NotArchived');
    return message;
  }

  function entryOf(
    { record, facts, attempt }: Message,
    outcome: ArchiveRecord['outcome'],
    more: Partial<ArchiveRecord>,
  ): ArchiveRecord {
    return {
      event: name,
      ...facts,
      ...more,
      outcome,
      attempt,
      settledAt: new Date().toISOString(),
      // A replay must not make the past live longer, nor come twice in the next one.
      ...(facts.replay === undefined && payloadOf(record)),
    };
  }

  return middy<SQSEvent, SQSBatchResponse>()
    .use(injectLambdaContext(logger, { logEvent: false, resetKeys: true }))
    .handler(async ({ Records }, context) => {
      const settled = await settleBatch(Records, context);
      const comingBack = settled.filter(({ entry }) => entry === undefined);
      return {
        batchItemFailures: comingBack.map(({ record }) => ({ itemIdentifier: record.messageId })),
      };
    });
}

/** Carries out a call. @returns false where it failed, which is logged */
async function telling(failure: 'BuryFailed' | 'HideFailed', call: () => Promise<void>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    recordLog.error(failure, await describeError(error));
    await count(failure);
    return false;
  }
}
