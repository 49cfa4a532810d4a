import type { SQSRecord } from 'aws-lambda';
import type { ArchiveRecord } from '../archive/record-schema.ts';
import type { EffectOutcome } from '../effects/event-order.ts';
import { describeError, errorText } from '../errors.ts';
import type { EventName } from '../events/catalogue.ts';
import { UNARCHIVED_GROWTH, UNARCHIVED_RECEIVES } from '../limits.ts';
import {
  DEAD_LETTER_NOT_SENT,
  DEAD_LETTERED,
  FAILED,
  NOT_ARCHIVED,
  PROCESSED,
  RETRY_NOT_DELAYED,
} from '../log-messages.ts';
import { readableText } from '../queue/message.ts';
import { count, log, withLogKeys } from '../telemetry.ts';
import { type MessageMetadata, payloadOf } from './received-event.ts';
import { isPermanent, retryDelaySeconds } from './retry.ts';
import { SourceQueue } from './source-queue.ts';

export interface ConsumedMessage {
  readonly record: SQSRecord;
  readonly metadata: MessageMetadata;
}

/** Fields of the event for its archive record. Empty if the payload could not be read. */
export interface ReadFields {
  shopId?: string;
  timestamp?: string;
}

interface SettledMessage {
  readonly message: ConsumedMessage;
  /** For the archive. */
  readonly record: ArchiveRecord;
}

/** The result of an attempt: the message is settled, or it has no record and returns to its queue. */
export type Settlement = SettledMessage | { readonly message: ConsumedMessage; readonly record?: undefined };

/**
 * Settles the messages of one event's queue: logs and counts how an attempt ended, and moves or delays a failed one.
 */
export class MessageSettler {
  readonly #event: EventName;
  readonly #source = new SourceQueue();

  constructor(event: EventName) {
    this.#event = event;
  }

  /** Adds the keys of the message to all log lines of the work. */
  logged<Result>({ record, metadata }: ConsumedMessage, work: () => Promise<Result>): Promise<Result> {
    const { eventId, requestId, attempt, replay } = metadata;
    const keys = { event: this.#event, eventId, requestId, messageId: record.messageId, attempt };
    return withLogKeys({ ...keys, replay: replay?.name }, work);
  }

  async processed(message: ConsumedMessage, outcome: EffectOutcome, read: ReadFields): Promise<Settlement> {
    const { receivedAt, replay } = message.metadata;
    if (replay !== undefined) {
      log.info(outcome);
      count('Replayed', { event: this.#event });
    } else {
      // The receiver's clock may differ from the consumer's.
      log.info(outcome, { latencyMs: Math.max(0, Date.now() - Date.parse(receivedAt)) });
      if (outcome !== PROCESSED) count(outcome, { event: this.#event });
    }
    return this.#settled(message, outcome, read);
  }

  /**
   * Moves the message to the dead-letter queue, or delays its retry.
   * @param limits `moreReceives` beyond the queue's maximum; `growth`: the receive after which the delay grows no more
   */
  async failed(
    message: ConsumedMessage,
    error: unknown,
    read: ReadFields = {},
    { moreReceives = 0, growth = Number.POSITIVE_INFINITY } = {},
  ): Promise<Settlement> {
    const { attempt } = message.metadata;
    const isLast = isPermanent(error) || attempt >= this.#source.maxReceives + moreReceives;
    return isLast
      ? await this.#giveUp(message, error, read)
      : await this.#retry(message, error, Math.min(attempt, growth));
  }

  /**
   * A message that was not archived returns to its queue, because effects can be repeated. A dead letter is safe
   * already.
   */
  async notArchived(settled: SettledMessage, error: Error): Promise<Settlement> {
    if (settled.record.outcome !== DEAD_LETTERED) {
      const limits = { moreReceives: UNARCHIVED_RECEIVES, growth: UNARCHIVED_GROWTH };
      return this.failed(settled.message, error, {}, limits);
    }
    log.warn(NOT_ARCHIVED, describeError(error));
    count(NOT_ARCHIVED);
    return settled;
  }

  async #giveUp(message: ConsumedMessage, error: unknown, read: ReadFields): Promise<Settlement> {
    const described = describeError(error);
    log.error(DEAD_LETTERED, described);
    count(DEAD_LETTERED, { event: this.#event });
    const failureReason = readableText(errorText(described));
    // If the copy fails, the message returns to its queue. After the queue's last receive, SQS moves the message.
    const isMoved = await succeeds(DEAD_LETTER_NOT_SENT, () =>
      this.#source.sendToDeadLetterQueue(message.record, failureReason),
    );
    if (!isMoved) return { message };
    return this.#settled(message, DEAD_LETTERED, { ...read, failureReason });
  }

  async #retry(message: ConsumedMessage, error: unknown, step: number): Promise<Settlement> {
    const described = describeError(error);
    const seconds = retryDelaySeconds(error, step, this.#source.firstRetryDelay);
    log.warn(FAILED, { ...described, retryInSeconds: seconds });
    count(FAILED, { event: this.#event });
    // If the delay fails, the message returns after the queue's visibility timeout.
    await succeeds(RETRY_NOT_DELAYED, () => this.#source.delayRetry(message.record, seconds));
    return { message };
  }

  #settled(
    message: ConsumedMessage,
    outcome: ArchiveRecord['outcome'],
    more: Partial<ArchiveRecord>,
  ): SettledMessage {
    const record = {
      event: this.#event,
      ...message.metadata,
      ...more,
      outcome,
      settledAt: new Date().toISOString(),
      // The record of a replay has no payload: otherwise it would be kept longer, and replayed twice next time.
      ...(message.metadata.replay === undefined && payloadOf(message.record)),
    };
    return { message, record };
  }
}

/** @returns false if the call failed, which is logged and counted */
async function succeeds(
  failure: typeof DEAD_LETTER_NOT_SENT | typeof RETRY_NOT_DELAYED,
  call: () => Promise<void>,
): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    log.error(failure, describeError(error));
    count(failure);
    return false;
  }
}
