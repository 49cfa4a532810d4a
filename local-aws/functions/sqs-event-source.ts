import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { objectsOf } from '../aws/json.ts';
import type { AwsCaller } from '../aws-caller.ts';
import { type InvocationResult, TooManyRequestsError } from './invocation.ts';
import { type BatchMessage, processedIds, splitBySize, toRecord } from './sqs-batch.ts';

/**
 * Maximum time of a receive that waits for messages. SQS allows 20 s. But `disable()` must wait for the end
 * of a running receive, so that no received message is lost.
 */
const LONG_POLL_SECONDS = 2;

/**
 * Milliseconds to wait after a batch that was not full. Under load, the next batch fills meanwhile, and
 * receiving, processing and deleting ten messages takes about as long as for one. A single message is not
 * delayed.
 */
const PAUSE = 50;

/**
 * Maximum attempts to delete messages, about 18 s in total. Then the messages return after their visibility
 * timeout.
 */
const DELETE_ATTEMPTS = 8;

const STOP_LIMIT_MILLISECONDS = 5_000;

/** Minimum time between two reports of the same kind of problem. */
const REPORT_INTERVAL_MILLISECONDS = 60_000;

/** Wait after a failed call. The wait doubles with each further failure, up to the maximum below. */
const FIRST_PAUSE_MILLISECONDS = 100;
const MAX_PAUSE_MILLISECONDS = 5_000;

/** An event source mapping from a standard queue to a function, as in the template. */
export interface SqsEventSourceOptions {
  functionName: string;
  queueUrl: string;
  queueArn: string;
  /** At most 10, because a batch has the messages of one receive. */
  batchSize: number;
  reportBatchItemFailures: boolean;
  /** Maximum number of batches that are processed at the same time. */
  maximumConcurrency: number;
  /** Calls with the permissions of the function's role, because Lambda polls with them. */
  aws: Pick<AwsCaller, 'json'>;
  invoke(event: SQSEvent): Promise<InvocationResult>;
  /**
   * Called for failed receives and deletions and malformed responses: at most once a minute for each kind, and never
   * with a message's content. The function logs its own errors.
   */
  onProblem(message: string): void;
}

/**
 * Polls a queue and invokes a function with batches of its messages, as Lambda does. `enable()` starts
 * polling.
 */
export class SqsEventSource {
  readonly #options: SqsEventSourceOptions;
  #enabled = false;
  /** Resolves when polling has ended. Never rejects. */
  #polling: Promise<void> = Promise.resolve();
  readonly #running = new Set<Promise<void>>();
  readonly #reportedAt = new Map<string, number>();
  readonly #stopped = new AbortController();
  /** Aborted when `stop()` has waited long enough for running batches. */
  readonly #abandoned = new AbortController();

  constructor(options: SqsEventSourceOptions) {
    this.#options = options;
  }

  /** Starts polling. Must not be called before an earlier {@link disable} has ended. */
  enable(): void {
    if (this.#enabled) return;
    this.#enabled = true;
    this.#polling = this.#polling.then(() => this.#poll());
  }

  /**
   * Stops polling.
   * @returns when all received messages are processed
   */
  async disable(): Promise<void> {
    this.#enabled = false;
    await this.#polling;
    await Promise.all(this.#running);
  }

  /** Stops polling at once and waits at most 5 s for running batches. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    const limit = sleep(STOP_LIMIT_MILLISECONDS, undefined, { ref: false });
    await Promise.race([Promise.all([this.#polling, ...this.#running]), limit]);
    this.#abandoned.abort();
  }

  get #polls(): boolean {
    return this.#enabled && !this.#stopped.signal.aborted;
  }

  async #poll(): Promise<void> {
    while (this.#polls) {
      await this.#freeSlot();
      const records = await this.#receive();
      for (const batch of splitBySize(records)) {
        await this.#freeSlot();
        if (!this.#stopped.signal.aborted) this.#start(batch);
      }
      const isPartial = records.length > 0 && records.length < this.#options.batchSize;
      if (isPartial) await sleep(PAUSE, undefined, { signal: this.#stopped.signal }).catch(() => {});
    }
  }

  async #freeSlot(): Promise<void> {
    while (this.#running.size >= this.#options.maximumConcurrency) await Promise.race(this.#running);
  }

  /**
   * Receives the messages of a batch, and retries until a call succeeds. From then on, this source must process these
   * messages.
   * @returns an empty list if the source is disabled or stopped meanwhile
   */
  async #receive(): Promise<SQSRecord[]> {
    const input = {
      QueueUrl: this.#options.queueUrl,
      MaxNumberOfMessages: this.#options.batchSize,
      WaitTimeSeconds: LONG_POLL_SECONDS,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    };
    const { signal } = this.#stopped;
    for (let failures = 1; this.#polls; failures += 1) {
      try {
        const answer = await this.#options.aws.json('sqs', 'ReceiveMessage', input, signal);
        const messages = objectsOf(answer, 'Messages') as unknown as BatchMessage[];
        return messages.map((message) => toRecord(message, this.#options.queueArn));
      } catch (error) {
        if (!signal.aborted) this.#report('ReceiveMessage', error);
        await pause(failures, signal);
      }
    }
    return [];
  }

  #start(batch: SQSRecord[]): void {
    const running = this.#process(batch).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #process(batch: SQSRecord[]): Promise<void> {
    const { invoke, reportBatchItemFailures } = this.#options;
    const ids = batch.map((record) => record.messageId);
    let processed: string[];
    try {
      processed = processedIds(ids, await invoke({ Records: batch }), reportBatchItemFailures);
    } catch (error) {
      this.#report(error instanceof TooManyRequestsError ? 'Invoke' : 'Response', error);
      return;
    }
    const handles = batch
      .filter((record) => processed.includes(record.messageId))
      .map((record) => record.receiptHandle);
    if (handles.length > 0) await this.#delete(handles);
  }

  async #delete(receiptHandles: string[]): Promise<void> {
    let remaining = receiptHandles;
    for (let attempt = 1; attempt <= DELETE_ATTEMPTS && !this.#abandoned.signal.aborted; attempt += 1) {
      remaining = await this.#deleteOnce(remaining);
      if (remaining.length === 0) return;
      await pause(attempt, this.#abandoned.signal);
    }
  }

  /** @returns receipt handles of messages that must be deleted again */
  async #deleteOnce(receiptHandles: string[]): Promise<string[]> {
    const input = {
      QueueUrl: this.#options.queueUrl,
      Entries: receiptHandles.map((handle, index) => ({ Id: String(index), ReceiptHandle: handle })),
    };
    const { signal } = this.#abandoned;
    try {
      const answer = await this.#options.aws.json('sqs', 'DeleteMessageBatch', input, signal);
      const failed = objectsOf(answer, 'Failed');
      if (failed[0] !== undefined) this.#report('DeleteMessageBatch', failed[0].Code);
      const retried = failed.filter((failure) => !failure.SenderFault).map((failure) => Number(failure.Id));
      return receiptHandles.filter((_handle, index) => retried.includes(index));
    } catch (error) {
      this.#report('DeleteMessageBatch', error);
      return receiptHandles;
    }
  }

  #report(operation: string, reason: unknown): void {
    const last = this.#reportedAt.get(operation);
    if (last !== undefined && Date.now() - last < REPORT_INTERVAL_MILLISECONDS) return;
    if (this.#abandoned.signal.aborted) return;
    this.#reportedAt.set(operation, Date.now());
    const text = reason instanceof Error ? reason.message : String(reason);
    this.#options.onProblem(`Event source of ${this.#options.functionName}: ${text}`);
  }
}

/** Waits, longer after each failure in a row, or until the signal is aborted. Never rejects. */
async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const milliseconds = Math.min(MAX_PAUSE_MILLISECONDS, FIRST_PAUSE_MILLISECONDS * 2 ** (failures - 1));
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}
