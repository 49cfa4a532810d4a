/*
 * Limits and times of the functions. This file imports nothing, so the CDK app and the commands can load it without the
 * functions' libraries.
 */

/** Seconds. */
const DAY = 24 * 60 * 60;

/** Milliseconds after which a cached secret is read again (decision D12). */
export const SECRET_MAX_AGE = 5 * 60_000;

/** Minimum milliseconds between two reads that are caused by mismatches or failures (decision D12). */
export const SECRET_REFRESH_INTERVAL = 30_000;

/**
 * Minimum milliseconds between two reads while no secret is cached (decision D12). Otherwise each forged request of a
 * flood would cause a call. A partner's retry must not wait long for the secret.
 */
export const SECRET_FIRST_READ_INTERVAL = 1_000;

/** Milliseconds after a rotation for which the previous secret is accepted (decision D12). */
export const PREVIOUS_SECRET_MAX_AGE = 24 * 60 * 60_000;

/** Milliseconds by which the partner's clock may be ahead of ours (decision D8). */
export const CLOCK_TOLERANCE = 5 * 60_000;

/** Days that a tombstone stays (decision D8). A late event of a deleted member must find it. */
export const TOMBSTONE_DAYS = 90;
export const TOMBSTONE_SECONDS = TOMBSTONE_DAYS * DAY;

/** Days that the record of a notification stays (decision 20). */
export const NOTIFICATION_RECORD_DAYS = 90;
export const NOTIFICATION_RECORD_SECONDS = NOTIFICATION_RECORD_DAYS * DAY;

/** Minimum days that a large payload stays (decision D13). */
export const MIN_PAYLOAD_DAYS = 90;

/**
 * Seconds that an event may wait for its consumer, and therefore be paused. If SQS itself moves a message to the
 * dead-letter queue, its retention there counts from the first receipt. The rest of the 14 days is left to react.
 * Source: SQS developer guide, "Setting-up dead-letter queue retention".
 */
export const EVENT_RETENTION_SECONDS = 7 * DAY;

/**
 * Seconds that dead letters, quarantined and parked messages are kept: the maximum of SQS. Source: SQS developer guide,
 * "Message quotas".
 */
export const DEAD_LETTER_RETENTION_SECONDS = 14 * DAY;

export const EVENT_RETENTION_DAYS = EVENT_RETENTION_SECONDS / DAY;
export const DEAD_LETTER_RETENTION_DAYS = DEAD_LETTER_RETENTION_SECONDS / DAY;

/** Days from the receipt of an event until it is on no queue any more, unless somebody redrives it. */
export const LAST_DAY_ON_QUEUES = EVENT_RETENTION_DAYS + DEAD_LETTER_RETENTION_DAYS;

/**
 * How far back a replay may reach, in days since a message was settled. {@link TOMBSTONE_DAYS} and {@link
 * NOTIFICATION_RECORD_DAYS}, from the receipt, must cover: 7 days on the queue, 14 on the dead-letter queue, these 60,
 * and 7 of the replay's message on the queue. Two days are left for an event that we received after the deletion that
 * it preceded. A redrive settles an event later, so {@link REPLAYABLE_RECEIPT_DAYS} applies too.
 */
export const REPLAYABLE_DAYS = 60;

/**
 * How long ago the message of a replay may have been received, in days, regardless of when it was settled: each redrive
 * adds up to 21 days. The days of the replay's message on the queue are left for it.
 */
export const REPLAYABLE_RECEIPT_DAYS =
  Math.min(TOMBSTONE_DAYS, NOTIFICATION_RECORD_DAYS) - EVENT_RETENTION_DAYS;

/**
 * Receives after which a consumer moves a message to the dead-letter queue: about three hours, or up to three days while
 * CloudFront is busy. SQS itself moves a message after {@link UNARCHIVED_RECEIVES} more.
 */
export const MAX_RECEIVES = 10;

/** Seconds before the first retry. Each further delay is twice as long. */
export const FIRST_RETRY_SECONDS = 30;

/** Maximum delay of a retry, in seconds. */
export const MAX_RETRY_SECONDS = 60 * 60;

/**
 * Random share by which a delay is longer or shorter, so that messages that failed together are not retried together.
 */
export const RETRY_JITTER = 0.25;

/**
 * Further receives for a message that only the archive rejects, so that one rejection after the last failure of the
 * effect does not make it a dead letter. A message also has them if it crashes its consumer, or cannot be moved.
 */
export const UNARCHIVED_RECEIVES = 2;

/**
 * Receives until which the delay grows after a rejection by the archive: to 8 minutes, so that 12 receives take about an
 * hour. Not longer, because a waiting message is in flight, and SQS allows about 120,000 of these per queue: at 30 a
 * second, waits of more than an hour would use them all. Source: SQS developer guide, "Message quotas".
 */
export const UNARCHIVED_GROWTH = 5;

/**
 * First window in which a retry is scheduled while CloudFront's quota is used up, in first delays: 15 minutes with a
 * first delay of 30 s.
 */
export const FIRST_QUOTA_WINDOW = 30;

/**
 * Maximum window in which a retry is scheduled while CloudFront's quota is used up, in seconds. SQS hides a message for
 * at most 12 hours from its receipt, and a function may take 15 minutes of them. Source: SQS developer guide, "Amazon
 * SQS visibility timeout".
 */
export const MAX_QUOTA_WINDOW_SECONDS = 11 * 60 * 60;

/** Earliest retry while CloudFront's quota is used up, as a share of the window. */
export const QUOTA_WINDOW_START = 0.25;

/**
 * Attempts to write the record of an effect. If the record cannot be written, the effect is repeated. So writing the
 * record gets more attempts than the effect.
 */
export const IDEMPOTENCY_ATTEMPTS = 5;

/**
 * Visibility timeout of a queue, in timeouts of its consumer. Source: Lambda developer guide, "Using Lambda with Amazon
 * SQS": at least six.
 */
export const VISIBILITY_TIMEOUTS = 6;

/** Days for which a table can be restored: the maximum. Source: DynamoDB developer guide, "Point-in-time recovery". */
export const TABLE_RECOVERY_DAYS = 35;

/** Maximum timeout of a function, in seconds. Source: Lambda developer guide, "Lambda quotas". */
export const MAX_FUNCTION_SECONDS = 900;

/** The largest archive record before base64. Source: Firehose API reference, `PutRecordBatch`: 1,000 KiB. */
export const MAX_RECORD_BYTES = 1_000 * 1024;

/**
 * Bytes of a record reserved for the fields other than the body: ids, times, and a failure reason of at most 2,048
 * characters.
 */
export const RECORD_RESERVE_BYTES = 32 * 1024;

/**
 * Maximum number of problems in an answer. A list of 100,000 wrong entries must not make an answer of a megabyte.
 */
export const MAX_PROBLEMS = 20;

/** Longest value of an attribute that we send, in UTF-16 units. Attributes count towards the size of a message. */
export const MAX_ATTRIBUTE_LENGTH = 2048;

/**
 * Maximum UTF-8 bytes of a stored text, and of all data of a cast member as JSON. An item holds 400 KB, names included
 * (DynamoDB developer guide, "Quotas"). The largest items are below that: a cast member has its data, a name and two
 * ids of 2 KiB; a contact has three texts; a shop has its list of field names.
 */
export const MAX_TEXT_BYTES = 64 * 1024;
export const MAX_DATA_BYTES = 256 * 1024;

/**
 * Longest value in a notification, in characters. SNS accepts 256 KB, shared by the texts of all protocols, and people
 * in a chat room read one sentence. Source: Amazon SNS API reference, `Publish`.
 */
export const MAX_NOTIFICATION_VALUE_LENGTH = 1000;

/**
 * Seconds for which Firehose collects records for an object: the maximum, and the cheapest. Source: Firehose API
 * reference, `BufferingHints`.
 */
export const ARCHIVE_BUFFER_SECONDS = 900;

/**
 * Maximum seconds for which `npx hookctl dlq` hides the messages of a queue, while it inspects them or after it was
 * killed.
 */
export const MAX_INSPECTION_SECONDS = 15 * 60;

/**
 * Maximum characters of the reason for a pause. An alarm's state reason takes 1,023, and it begins with the ARN of the
 * person, at most about 600. Source: CloudWatch API reference, "SetAlarmState"; IAM user guide, "IAM and AWS STS
 * quotas".
 */
export const MAX_PAUSE_REASON_LENGTH = 400;

/**
 * Seconds for which SQS reuses a data key before it calls KMS again, 60 to 86,400. For that time, a queue still works
 * after its key was withdrawn, and KMS may be down before a delivery fails. This is the default of SQS; an hour would
 * save a few cents (`docs/scale-and-cost.md`).
 */
export const DATA_KEY_REUSE_SECONDS = 300;

/**
 * Seconds over which AWS WAF's rate rule counts. Source: AWS WAF developer guide, "Rate-based rule high-level
 * settings".
 */
export const RATE_WINDOW_SECONDS = 300;

/** Seconds that a gateway waits for the receiver: the most that both kinds allow without a request to AWS. */
export const GATEWAY_TIMEOUT_SECONDS = 29;

/**
 * MB (2^20 bytes) of a body that both gateways accept. Sources: API Gateway developer guide, "Quotas for HTTP APIs" and
 * "Quotas for REST APIs".
 */
export const GATEWAY_BODY_MEGABYTES = 10;

/**
 * MB (2^20 bytes) of the event of a synchronous invocation. A body in base64 is a third longer in it. An HTTP API
 * passes JSON as text, a REST API everything in base64. Source: Lambda developer guide, "Lambda quotas".
 */
export const EVENT_MEGABYTES = 6;
export const ENCODED_BODY_MEGABYTES = (EVENT_MEGABYTES * 3) / 4;

/** Milliseconds after which an attempt of a call to AWS has no connection, or no complete answer. */
export const CONNECTION_TIMEOUT = 1_000;
export const REQUEST_TIMEOUT = 2_000;

/** Attempts of a call to AWS. */
export const CALL_ATTEMPTS = 2;

/**
 * Maximum milliseconds of a call to AWS. Before the second attempt, the SDK waits up to a second if it was throttled.
 * Source: @smithy/core, `Retry.throttlingDelay`.
 */
const MAX_CALL_MILLISECONDS = CALL_ATTEMPTS * REQUEST_TIMEOUT + 1_000;

/**
 * Timeout of the receiver, in seconds: shorter than the gateway waits. At most four calls follow one another, 20 s: both
 * versions of the secret, a large payload to S3, a message to SQS.
 */
export const RECEIVER_TIMEOUT_SECONDS = GATEWAY_TIMEOUT_SECONDS - 1;

/**
 * Milliseconds before its timeout at which a consumer gives up unfinished effects. At most three calls follow: one
 * delays their retries, one archives the finished effects, one delays the retries of those that were not archived.
 */
export const OUT_OF_TIME_MARGIN = 3 * MAX_CALL_MILLISECONDS;

/** Minimum timeout of a consumer, in seconds: an effect has the time for a call. */
export const MIN_CONSUMER_SECONDS = (OUT_OF_TIME_MARGIN + MAX_CALL_MILLISECONDS) / 1_000;

/**
 * Maximum milliseconds for which an idle connection is kept. Lambda freezes an idle instance, for minutes. Meanwhile a
 * peer or a gateway drops its connections, and the instance does not notice. Source: the default of the AWS SDK for Java
 * 2.x, `CONNECTION_MAX_IDLE_TIMEOUT`. With a shorter time, more requests would have to open a connection.
 */
export const MAX_IDLE_MILLISECONDS = 60_000;

/**
 * Maximum milliseconds that the warm-up adds to a start. It equals the timeout of a connection (`clientSettings`), and
 * leaves most of the 10 s that a start may take (Lambda developer guide, "Lambda execution environment lifecycle").
 */
export const WARM_UP_LIMIT = CONNECTION_TIMEOUT;
