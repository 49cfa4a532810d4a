import type { JsonObject } from './json.ts';

interface AwsErrorOptions {
  /** HTTP status. @default 400 */
  status?: number;
  /** Additional fields of the error in the JSON protocols. */
  details?: JsonObject;
}

/** An error that an AWS client gets in the service's own format. */
export class AwsError extends Error {
  override name = 'AwsError';
  readonly code: string;
  readonly status: number;
  readonly details: JsonObject;

  constructor(code: string, message: string, { status = 400, details = {} }: AwsErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

const SQS_PREFIX = 'AWS.SimpleQueueService.';

/**
 * Names of SQS errors that have the prefix `AWS.SimpleQueueService.` in the query protocol. All others are
 * named as in the JSON protocol.
 */
const PREFIXED = [
  'BatchEntryIdsNotDistinct BatchRequestTooLong EmptyBatchRequest InvalidBatchEntryId MessageNotInflight',
  'PurgeQueueInProgress QueueDeletedRecently TooManyEntriesInBatchRequest UnsupportedOperation',
].flatMap((codes) => codes.split(' '));

const RENAMED: Record<string, string> = {
  AccessDeniedException: 'AccessDenied',
  QueueDoesNotExist: `${SQS_PREFIX}NonExistentQueue`,
  QueueNameExists: 'QueueAlreadyExists',
};

/**
 * The code of an SQS error in the old query protocol. SDKs still use this code as the error's name: they read the code
 * from the header `x-amzn-query-error` of the JSON protocol.
 */
export function sqsQueryCode(code: string): string {
  return RENAMED[code] ?? (PREFIXED.includes(code) ? SQS_PREFIX + code : code);
}
