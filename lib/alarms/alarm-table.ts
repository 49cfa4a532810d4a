import { EVENT_RETENTION_SECONDS, MAX_INSPECTION_SECONDS } from '../../lambda/limits.ts';
import { SERVER_ERROR } from '../../lambda/log-messages.ts';

/** A text of an alarm, or one for each kind of API. {@link Alarms.add} replaces placeholders such as `<event>`. */
type Text = string | { readonly http: string; readonly rest: string };

export interface AlarmDefinition {
  /** CloudWatch's name of the metric. The caller of `Alarms.add` says which queue, function or log it belongs to. */
  readonly metric: {
    readonly name: string;
    readonly statistic: 'Sum' | 'Maximum' | 'Minimum' | 'p50' | 'p99';
    /** Seconds. */
    readonly period: number;
  };
  readonly fires: {
    /** @default '>=' */
    readonly comparison?: '>=' | '<' | '<=';
    readonly threshold: number;
    /** Threshold while the event is paused. `npx hookctl pause` and `resume` switch between this and `threshold`. */
    readonly thresholdInPause?: number;
    /** Unit of the threshold. @default a plain number */
    readonly unit?: 'seconds' | 'milliseconds' | 'days';
    /** Name of a setting of the stage: the alarm's threshold is this setting, multiplied by `threshold`. */
    readonly timesSetting?: string;
    /** Number of evaluated periods, or the setting that holds it. @default 1 */
    readonly periods?: number | 'quietAfter';
    /** How many of these periods must reach the threshold. @default all */
    readonly periodsAtThreshold?: number;
    /** Treatment of a period without a value. @default not breaching, because no traffic is no failure */
    readonly missingData?: 'BREACHING' | 'IGNORE';
  };
  /** What users lose until somebody acts. A complete sentence. */
  readonly impact: Text;
  /** What to do first: a sentence without its full stop. */
  readonly firstStep: Text;
  /** Anchor of the alarm's section in `docs/operations.md`, the runbook. */
  readonly section: string;
  /** Whether people are notified. @default true */
  readonly notifies?: boolean;
}

/** Seconds. */
const MINUTE = 60;
const FIVE_MINUTES = 5 * MINUTE;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Reading a queue hides its messages. So the alarm looks back a minute longer than a read can take, and fires if a
 * message was visible in any of these minutes.
 */
const notEmpty = {
  metric: { name: 'ApproximateNumberOfMessagesVisible', statistic: 'Maximum', period: MINUTE },
  fires: { threshold: 1, periods: MAX_INSPECTION_SECONDS / MINUTE + 1, periodsAtThreshold: 1 },
} as const;

const notDelivered = {
  metric: { name: 'NumberOfNotificationsFailed', statistic: 'Sum', period: FIVE_MINUTES },
  fires: { threshold: 1 },
  firstStep: 'list the subscribers, and ask each of them whether notifications arrive',
  section: 'not-delivered',
} as const;

/**
 * ACM renews its own certificates earlier. A certificate so close to its expiry was imported, or cannot be renewed. ACM
 * publishes the metric twice a day, and not at all after expiry, so a missing value must not look like a renewal.
 * Source: ACM user guide, "Supported CloudWatch metrics".
 */
const certificateExpires = {
  metric: { name: 'DaysToExpiry', statistic: 'Minimum', period: DAY },
  fires: { comparison: '<=', threshold: 30, unit: 'days', missingData: 'IGNORE' },
  impact: 'when the certificate expires, the partner can no longer reach us, and every delivery fails.',
  firstStep: 'find out why ACM does not renew the certificate, or import a new one',
  section: 'certificate',
} as const;

/**
 * Only CodeDeploy reads the state of this alarm. People are not notified, because the metric continues after the
 * version has all the traffic.
 */
const rollsBack = {
  fires: { threshold: 1 },
  impact:
    'the new version of the receiver fails. While traffic shifts to it, CodeDeploy rolls it back automatically.',
  firstStep: 'read the log of the receiver, and see whether the deployment was rolled back',
  section: 'new-version-fails',
  notifies: false,
} as const;

/**
 * Every alarm that a stage may have, by its path in the stack: its condition, and the text of its mail.
 */
export const alarmTable = {
  '<Event>/DeadLetterQueue/NotEmpty': {
    ...notEmpty,
    impact: '<impact>',
    firstStep: 'npx hookctl dlq show <event> --stage <stage>',
    section: 'dead-letters-of-an-event',
  },
  '<Event>/Waiting': {
    // Messages that wait for a retry do not count: after three receives, SQS leaves a message out of this metric.
    // Source: SQS developer guide, "Available CloudWatch metrics".
    metric: { name: 'ApproximateAgeOfOldestMessage', statistic: 'Maximum', period: MINUTE },
    // During a pause, the alarm fires one day before SQS deletes a message.
    fires: { threshold: 15 * MINUTE, thresholdInPause: EVENT_RETENTION_SECONDS - DAY, unit: 'seconds' },
    impact: '<impact>',
    firstStep:
      'check its consumer: event source, throttles, log. If the event is paused, resume it within a day, before SQS deletes messages',
    section: 'waiting',
  },
  '<Event>/Paused': {
    // The metric has no values. The alarm keeps the state that `npx hookctl pause` and `npx hookctl resume` set.
    metric: { name: 'Paused', statistic: 'Maximum', period: MINUTE },
    fires: { threshold: 1, missingData: 'IGNORE' },
    impact: '<impact>',
    firstStep: 'npx hookctl resume <event> --stage <stage>',
    section: 'paused',
  },
  Failing: {
    metric: { name: 'Failures', statistic: 'Sum', period: FIVE_MINUTES },
    // Consecutive periods: a single failing message backs off and leaves gaps, unless other messages fill them.
    fires: { threshold: 1, periods: 3 },
    impact:
      'some events are processed late. An event that fails for about three hours (CloudFront busy: three days) becomes a dead letter.',
    firstStep: 'see which event has messages in flight: npx hookctl dlq list --stage <stage>',
    section: 'failing',
  },
  PutAside: {
    metric: { name: 'PutAside', statistic: 'Sum', period: MINUTE },
    fires: { threshold: 1 },
    impact:
      'one more event was set aside without being processed: it is a dead letter, unusable, or of an unknown kind.',
    firstStep: 'see which queue it is on: npx hookctl dlq list --stage <stage>',
    section: 'put-aside',
  },
  'Quarantine/NotEmpty': {
    ...notEmpty,
    impact: 'signed deliveries were unusable and have not been processed. The partner will not repeat them.',
    firstStep: 'npx hookctl dlq show quarantine --stage <stage>',
    section: 'quarantine',
  },
  'Unrouted/NotEmpty': {
    ...notEmpty,
    impact: 'the partner sends an event kind that we do not process yet.',
    firstStep: 'npx hookctl dlq show unrouted --stage <stage>',
    section: 'unrouted',
  },
  'Receiver/Errors': {
    metric: { name: 'Errors', statistic: 'Sum', period: MINUTE },
    fires: { threshold: 1, periods: 5, periodsAtThreshold: 2 },
    impact: 'the receiver crashes or times out. The partner gets 500 and repeats the delivery.',
    firstStep: "read the end of the receiver's log. If it began with a deployment, roll that back",
    section: 'receiver-errors',
  },
  'Receiver/Throttles': {
    metric: { name: 'Throttles', statistic: 'Sum', period: MINUTE },
    fires: { threshold: 1, periods: 5, periodsAtThreshold: 2 },
    impact: {
      http: 'Lambda has no concurrency left for deliveries. They get 503, which the partner might not repeat: they may be lost.',
      rest: 'Lambda has no concurrency left for deliveries. They get 500, which the partner repeats.',
    },
    firstStep: "compare the concurrency of all functions with the account's quota",
    section: 'throttles',
  },
  'Receiver/SecretUnreadable': {
    metric: { name: 'SecretUnreadable', statistic: 'Sum', period: MINUTE },
    fires: { threshold: 1, periods: 5, periodsAtThreshold: 2 },
    impact:
      'new instances of the receiver cannot verify signatures and answer 500. Running ones still have the secret cached.',
    firstStep: 'check that the secret exists and that the receiver may read it',
    section: 'secret-unreadable',
  },
  'Receiver/WrongSecret': {
    // The metric is 1 for a correct signature and 0 for a wrong one. Without deliveries it has no value.
    metric: { name: 'Verified', statistic: 'Maximum', period: HOUR },
    fires: { comparison: '<', threshold: 1 },
    impact: "for an hour every signature was wrong. If they are the partner's, all its deliveries get 401.",
    firstStep: "find out by source address whether the wrong signatures are the partner's",
    section: 'wrong-secret',
  },
  'Receiver/Quiet': {
    metric: { name: 'Verified', statistic: 'Sum', period: HOUR },
    // A missing value counts as no deliveries, so this alarm of a new stack fires until its first delivery.
    fires: { comparison: '<', threshold: 1, periods: 'quietAfter', missingData: 'BREACHING' },
    impact: 'no delivery with a valid signature has arrived. Our data may be out of date.',
    firstStep: 'check whether requests reach the API, and ask the partner whether they send',
    section: 'quiet',
  },
  Lag: {
    // After an outage of ours, the partner repeats deliveries: these are late for a good reason, but most others are
    // punctual, so the median is not. The period is long for a partner that sends little.
    metric: { name: 'DeliveryLag', statistic: 'p50', period: HOUR },
    fires: { threshold: 1, timesSetting: 'lagAfter' },
    impact: 'half of the deliveries are old when they arrive. Our data is equally out of date.',
    firstStep: 'ask the partner whether they have a backlog',
    section: 'lag',
  },
  'Api/ServerErrors': {
    metric: { name: '5xx', statistic: 'Sum', period: FIVE_MINUTES },
    // The threshold is above 1, because the partner repeats a failed delivery.
    fires: { threshold: 5 },
    impact: {
      http: 'deliveries are not accepted. The partner repeats those that got 500.',
      rest: 'deliveries fail in the receiver, or are throttled or blocked before it. The partner repeats them.',
    },
    firstStep: {
      http: `read \`${SERVER_ERROR}\` in the receiver's log: it says what failed`,
      rest: `if Throttled, Unavailable, TooLarge or Blocked also fires, begin there. Otherwise read \`${SERVER_ERROR}\` in the receiver's log`,
    },
    section: 'server-errors',
  },
  'Api/NearThrottle': {
    metric: { name: 'Count', statistic: 'Sum', period: MINUTE },
    // Fires below the limit, because API Gateway does not log every 429.
    fires: { threshold: 0.8, timesSetting: 'apiThrottle.rate × 60' },
    impact: {
      http: 'requests are near the throttle. Above it they get 429, which the partner might not repeat: they may be lost.',
      rest: 'requests are near the throttle. Above it they get 500, which the partner repeats.',
    },
    firstStep: "raise apiThrottle. If the account's quota is lower, raise that first",
    section: 'throttled',
  },
  'Api/Throttled': {
    metric: { name: 'Throttled', statistic: 'Sum', period: MINUTE },
    fires: { threshold: 1 },
    impact: {
      http: 'deliveries above the throttle get 429, which the partner might not repeat: they may be lost.',
      rest: 'deliveries above the throttle get 500, which the partner repeats.',
    },
    firstStep: "compare the rate of requests with apiThrottle and with the account's quota",
    section: 'throttled',
  },
  'Api/Unavailable': {
    metric: { name: 'Unavailable', statistic: 'Sum', period: MINUTE },
    fires: { threshold: 1 },
    impact: {
      http: 'the receiver did not answer API Gateway. Deliveries get 502, 503 or 504, which the partner might not repeat: they may be lost.',
      rest: 'the receiver did not answer API Gateway. Deliveries get 500, which the partner repeats.',
    },
    firstStep: 'find out whether the receiver was throttled, timed out or crashed',
    section: 'unavailable',
  },
  'Api/TooLarge': {
    metric: { name: 'TooLarge', statistic: 'Sum', period: MINUTE },
    fires: { threshold: 1 },
    impact:
      'deliveries are too large for API Gateway or Lambda. They are lost: nothing is stored, and a repeat fails, too.',
    firstStep: 'ask the partner to send the event in a smaller form',
    section: 'too-large',
  },
  'Api/WrongAddress': {
    metric: { name: 'WrongAddress', statistic: 'Sum', period: HOUR },
    // The threshold is above the noise of an occasional scanner.
    fires: { threshold: 10 },
    impact: 'somebody posts to a wrong address of our API. If it is the partner, these events are lost.',
    firstStep: "find out by source address who it is, and compare WebhookUrl with the partner's setting",
    section: 'wrong-address',
  },
  'Api/RejectionsJump': {
    metric: { name: 'Unauthorized', statistic: 'Sum', period: FIVE_MINUTES },
    // The threshold is above the noise of an occasional scanner.
    fires: { threshold: 20 },
    impact:
      'many deliveries get 401: the partner signs with a secret that we do not have, or somebody else is posting.',
    firstStep: 'find out by source address who is rejected, and whether the secret was rotated',
    section: 'rejections-jump',
  },
  'Api/Slow': {
    metric: { name: 'Latency', statistic: 'p99', period: FIVE_MINUTES },
    // The threshold is a guess, because the partner's timeout is unknown.
    fires: { threshold: 3_000, unit: 'milliseconds', periods: 3 },
    impact: 'our answers are slow (p99). The partner may time out and repeat deliveries.',
    firstStep:
      'see on the dashboard whether the receiver is slow, and in its log whether it has many cold starts',
    section: 'slow',
  },
  'Api/Blocked': {
    metric: { name: 'BlockedRequests', statistic: 'Sum', period: FIVE_MINUTES },
    // The threshold is above the noise of an occasional scanner.
    fires: { threshold: 20 },
    impact:
      "AWS WAF blocks an address that sends too many requests. If it is the partner's, deliveries fail until it sends fewer.",
    firstStep:
      'find out by source address who is blocked. If it is the partner, raise waf.requestsPerAddress',
    section: 'blocked',
  },
  'Api/BlockedBy<List>': {
    metric: { name: 'BlockedRequests', statistic: 'Sum', period: FIVE_MINUTES },
    fires: { threshold: 1 },
    impact:
      "a list of AWS blocks requests. If they are the partner's, their repeats are blocked, too, and the events are lost.",
    firstStep:
      'find out by source address who is blocked. If it is the partner, remove the list from waf.managedLists',
    section: 'blocked',
  },
  'Alarms/Topic/NotDelivered': {
    ...notDelivered,
    impact: 'somebody did not get an alarm. The other recipients get this one.',
  },
  'Effects/Chat/NotDelivered': {
    ...notDelivered,
    impact: 'a chat room was not notified of a change.',
  },
  'Effects/Review/NotDelivered': {
    ...notDelivered,
    impact: 'somebody was not notified of a review.',
  },
  CertificateExpires: certificateExpires,
  OwnershipCertificateExpires: certificateExpires,
  'Archive/Failing': {
    // Firehose drops data that it could not write for 24 hours. Source: Firehose developer guide, "Handle data delivery
    // failures".
    metric: { name: 'ArchiveFailures', statistic: 'Sum', period: FIVE_MINUTES },
    fires: { threshold: 1 },
    impact:
      'Firehose cannot store records in the archive, and drops them after a day. Events are still processed.',
    firstStep: "read in the archive's log why Firehose cannot write to the bucket",
    section: 'archive-failing',
  },
  'Canaries/ReceiverAnswers500': {
    ...rollsBack,
    metric: { name: 'VersionError', statistic: 'Sum', period: MINUTE },
  },
  'Canaries/ReceiverDies': { ...rollsBack, metric: { name: 'Errors', statistic: 'Sum', period: MINUTE } },
} as const satisfies Readonly<Record<string, AlarmDefinition>>;

/** Path of an alarm. `<Event>` stands for the part that names an event. */
export type AlarmName = keyof typeof alarmTable;
