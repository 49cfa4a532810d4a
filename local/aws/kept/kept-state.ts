import type { ZodMiniType } from 'zod/mini';
import type { Stores } from './fauxqs-stores.ts';

/**
 * What the AWS endpoint holds, on disk as well as in memory. Whatever is written here is there after the process was
 * killed, once {@link commit} has returned: the endpoint calls it before each answer, so nothing is lost that it has
 * acknowledged. Where nothing is kept there is no such object.
 */
export interface KeptState {
  /** SQS, SNS and S3, with what was kept of them. */
  readonly stores: Stores;
  /** The values of one subject. @param schema of a value, as the file may hold anything */
  shelf<Value>(subject: Subject, schema: ZodMiniType<Value>): Shelf<Value>;
  /** Has all writes so far on disk. @throws where it is not, from then on at every call: memory is ahead of the disk */
  commit(): void;
  /** Commits, and lets others open the folder. */
  close(): void;
}

/** What has values of its own, beside SQS, SNS and S3. */
export type Subject =
  | 'alarm'
  | 'dynamodb'
  | 'event source'
  | 'firehose'
  | 'log line'
  | 'secret';

/** Values by key, each in JSON. */
export interface Shelf<Value> {
  /** All of them, by key. @throws UnusableStateError where one is not what its schema says */
  entries(): [key: string, value: Value][];
  put(key: string, value: Value): void;
  delete(key: string): void;
}

/** The state that was kept cannot be gone on with: its message is one line that says why and what to do. */
export class UnusableStateError extends Error {
  override readonly name = 'UnusableStateError';
}
