/**
 * Seconds for which SQS uses a data key before it asks KMS for another one, 60 to 86,400: as long as a queue still works
 * under a key that was withdrawn, and as long as KMS may fail before a delivery does. It is SQS' own default; an hour
 * would save some cents (`docs/scale-and-cost.md`).
 */
export const DATA_KEY_REUSE_SECONDS = 300;
