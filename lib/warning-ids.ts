/**
 * What a stage may lack without being wrong. Apart from what gives the warnings, so that the configuration can
 * name them.
 */
export const warningIds = [
  'no-alarm-recipient',
  'no-chat-channel',
  'no-review-recipient',
  'no-reserved-concurrency',
  'refusals-are-lost',
  'no-quiet-after',
  'relative-runbook',
] as const;

export type WarningId = (typeof warningIds)[number];
