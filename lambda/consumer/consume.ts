import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { Archive } from '../archive/archive.ts';
import type { ArchiveRecord } from '../archive/record.ts';
import type { EffectOutcome } from '../effects/event-order.ts';
import { tableKey } from '../effects/table-key.ts';
import { describeError, errorText } from '../errors.ts';
import type { EventName } from '../events/catalogue.ts';
import { MAX_ATTRIBUTE_LENGTH } from '../queue/message.ts';
import { count, functionVersion, logger } from '../telemetry.ts';
import { type MessageFacts, payloadOf, type ReceivedEvent, readFacts, readRecord } from './received-event.ts';
import { recordLog, withRecordKeys } from './record-log.ts';
import { backOffSeconds, isHopeless, isOutage } from './retry.ts';
import { SourceQueue } from './source-queue.ts';

/**
 * Milliseconds before its timeout at which a function gives up the effects that it has not finished: time to archive
 * the others and to delay the retry of these, one call each.
 */
const OUT_OF_TIME_MARGIN = 9_000;

/** The function's time ran out before the record was done. */
class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/** Ends the work on a batch shortly before the function's timeout. */
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

  /** @throws OutOfTimeError if the work is not done by then */
  async limit<Result>(work: Promise<Result>): Promise<Result> {
    return await Promise.race([work, this.#passed.promise]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Receives after which a message that only the archive refuses is a dead letter: an hour. It was processed, and while it
 * waits it is in flight. SQS allows a queue some 120,000 such messages: at 30 a second, no other would be processed.
 * Source: SQS developer guide, "Message quotas".
 */
const MAX_UNARCHIVED_RECEIVES = 8;

interface FailureOptions {
  /** What could be read of the event. */
  readonly read?: Pick<ArchiveRecord, 'shopId' | 'timestamp'>;
  /** Receives after which the message is a dead letter. @default the queue's */
  readonly maxReceives?: number;
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
 * @param process causes the event's effect. It may be called again with the same event.
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
      const outcome = await deadline.limit(takeEffect());
      await report(outcome, message.facts);
      return { ...message, entry: entryOf(message, outcome, read) };
    } catch (error) {
      return settleFailure(message, error, { read });
    }
  }

  async function report(outcome: EffectOutcome, { receivedAt, replay }: MessageFacts): Promise<void> {
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

  /** @returns the message, with an entry if it is on the dead-letter queue; without one it comes back */
  async function settleFailure(
    message: Message,
    error: unknown,
    { read = {}, maxReceives = source.maxReceives }: FailureOptions = {},
  ): Promise<Settled> {
    const { record, attempt } = message;
    // A later attempt may be of a message that another version failed first.
    if (attempt === 1 && !isOutage(error)) await count('VersionError', { version: functionVersion });
    const described = await describeError(error);
    if (isHopeless(error) || attempt >= maxReceives) {
      recordLog.error('DeadLettered', described);
      await count('DeadLettered', { event: name });
      const failureReason = errorText(described).slice(0, MAX_ATTRIBUTE_LENGTH);
      // If this fails the message comes back, and after its last receive SQS moves it.
      const isMoved = await succeeds('BuryFailed', () => source.sendToDeadLetterQueue(record, failureReason));
      return isMoved
        ? { ...message, entry: entryOf(message, 'DeadLettered', { ...read, failureReason }) }
        : { ...message, entry: undefined };
    }
    const seconds = backOffSeconds(attempt, source.firstRetryDelay);
    recordLog.warn('Failed', { ...described, retryInSeconds: seconds });
    await count('Failed', { event: name });
    // If this fails the message comes back after the queue's visibility timeout.
    await succeeds('HideFailed', () => source.delayRetry(record, seconds));
    return { ...message, entry: undefined };
  }

  /** What the archive did not take comes back, as effects can be repeated; a dead letter is safe where it is. */
  async function settleUnarchived(message: Settled, error: Error): Promise<Settled> {
    if (message.entry?.outcome !== 'DeadLettered') {
      return settleFailure(message, error, {
        maxReceives: Math.min(MAX_UNARCHIVED_RECEIVES, source.maxReceives),
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

  return async ({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    logger.addContext(context);
    const settled = await settleBatch(Records, context);
    const comingBack = settled.filter(({ entry }) => entry === undefined);
    return {
      batchItemFailures: comingBack.map(({ record }) => ({ itemIdentifier: record.messageId })),
    };
  };
}

/** Carries out a call. @returns false if it failed, which is logged and counted */
async function succeeds(failure: 'BuryFailed' | 'HideFailed', call: () => Promise<void>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    recordLog.error(failure, await describeError(error));
    await count(failure);
    return false;
  }
}
