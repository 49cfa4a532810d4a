const PREFIX = 'AWS.SimpleQueueService.';

/** Errors whose code in the query protocol has the prefix; that of the rest is as in the JSON protocol. */
const PREFIXED = new Set([
  'BatchEntryIdsNotDistinct',
  'BatchRequestTooLong',
  'EmptyBatchRequest',
  'InvalidBatchEntryId',
  'MessageNotInflight',
  'PurgeQueueInProgress',
  'QueueDeletedRecently',
  'TooManyEntriesInBatchRequest',
  'UnsupportedOperation',
]);

const RENAMED: Record<string, string> = {
  AccessDeniedException: 'AccessDenied',
  QueueDoesNotExist: `${PREFIX}NonExistentQueue`,
  QueueNameExists: 'QueueAlreadyExists',
};

/**
 * What SQS's query protocol calls an error. The SDKs still name errors so, from the header
 * `x-amzn-query-error` of the JSON protocol.
 */
export function sqsQueryCode(code: string): string {
  return RENAMED[code] ?? (PREFIXED.has(code) ? PREFIX + code : code);
}
