/**
 * Date of the newest of these prices. They are list prices of the first tier. Free tiers, savings plans and taxes are
 * left out.
 */
export const PRICES_DATE = '2026-08-15';

/** Bytes of a gigabyte, as AWS charges it. */
export const GIGABYTE = 2 ** 30;

/** Firehose rounds each record up to this many bytes. Source: that of its price. */
export const FIREHOSE_CHUNK = 5 * 1024;

/** US dollars per unit in us-east-1. A month is AWS's billing month. */
export const prices = {
  // https://aws.amazon.com/api-gateway/pricing/ – HTTP APIs; each begun 512 KB of a request is one more
  httpApiRequest: 1 / 1e6,
  /** Of any size. */
  restApiRequest: 3.5 / 1e6,

  // https://aws.amazon.com/waf/pricing/ – a web ACL, each of its rules and managed groups, and what they look at
  wafAclMonth: 5,
  wafRuleMonth: 1,
  wafRequest: 0.6 / 1e6,

  // https://aws.amazon.com/lambda/pricing/ – arm64; start-up time is billed, too
  lambdaRequest: 0.2 / 1e6,
  lambdaGigabyteSecondArm: 0.0000133334,

  // https://aws.amazon.com/sqs/pricing/ – standard queues; each begun 64 KiB of a request is one more
  sqsRequest: 0.4 / 1e6,
  /** On top of `sqsRequest`, for messages with a group id on a standard queue. */
  sqsFairQueueRequest: 0.1 / 1e6,

  // https://aws.amazon.com/sns/pricing/ – standard topics; each begun 64 KB of a message is one more
  snsPublish: 0.5 / 1e6,
  /** Also what reaches a chat room through Amazon Q Developer. */
  snsHttps: 0.6 / 1e6,
  snsEmail: 2 / 1e5,

  // https://aws.amazon.com/dynamodb/pricing/on-demand/ – on demand, standard table class; a write unit is 1
  // KB, a read unit 4 KB
  dynamodbWriteUnit: 0.625 / 1e6,
  dynamodbReadUnit: 0.125 / 1e6,
  dynamodbGigabyteMonth: 0.25,
  /** Point-in-time recovery, by the size of the table. */
  dynamodbRecoveryGigabyteMonth: 0.2,

  // https://aws.amazon.com/s3/pricing/ – Standard
  s3Put: 0.005 / 1e3,
  s3List: 0.005 / 1e3,
  s3Get: 0.0004 / 1e3,
  s3GigabyteMonth: 0.023,

  // https://aws.amazon.com/firehose/pricing/ – direct PUT; each begun 5 KB of a record is paid for
  firehoseGigabyte: 0.029,

  // https://aws.amazon.com/athena/pricing/ – what a query scans, compressed as it is; 10 MB at least
  athenaTerabyte: 5,

  // https://aws.amazon.com/secrets-manager/pricing/
  secretsManagerCall: 0.05 / 1e4,
  secretMonth: 0.4,

  // https://aws.amazon.com/kms/pricing/ – symmetric; each of a key's first two rotations adds a dollar a
  // month
  kmsRequest: 0.03 / 1e4,
  kmsKeyMonth: 1,

  // https://aws.amazon.com/cloudwatch/pricing/ – logs: standard class, less above 10 TB a month for
  // Lambda's; metrics: custom ones, so EMF's
  logGigabyte: 0.5,
  /** By the compressed size. */
  logStoredGigabyteMonth: 0.03,
  /** Scanned by a query of Logs Insights. */
  logsInsightsGigabyte: 0.005,
  metricMonth: 0.3,
  /** For each metric that the alarm computes with. */
  alarmMonth: 0.1,
  compositeAlarmMonth: 0.5,
  dashboardMonth: 3,

  // https://aws.amazon.com/xray/pricing/ – traces recorded
  xrayTrace: 5 / 1e6,

  // https://aws.amazon.com/cloudfront/pricing/ – beyond the first 1,000 paths of a month
  cloudFrontInvalidationPath: 0.005,

  // https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer – to the internet; in costs nothing
  dataOutGigabyte: 0.09,
} as const;
