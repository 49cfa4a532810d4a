/** Date of the newest of these list prices of the first tier, without free tiers, savings plans and taxes. */
export const PRICES_DATE = '2026-08-15';

/** US dollars per unit in us-east-1. A month is AWS's billing month. */
export const prices = {
  // https://aws.amazon.com/api-gateway/pricing/ – an HTTP API charges each started 512 KB
  httpApiRequest: 1 / 1e6,
  restApiRequest: 3.5 / 1e6,

  // https://aws.amazon.com/waf/pricing/ – a managed rule group counts as a rule
  wafAclMonth: 5,
  wafRuleMonth: 1,
  wafRequest: 0.6 / 1e6,

  // https://aws.amazon.com/lambda/pricing/ – arm64
  lambdaRequest: 0.2 / 1e6,
  lambdaGigabyteSecond: 0.0000133334,

  // https://aws.amazon.com/sqs/pricing/ – standard queues; each started 64 KiB of a request is one more
  sqsRequest: 0.4 / 1e6,
  /** Price of a message with a group id on a standard queue, in addition to `sqsRequest`. */
  sqsFairQueueRequest: 0.1 / 1e6,

  // https://aws.amazon.com/sns/pricing/ – standard topics
  snsPublish: 0.5 / 1e6,
  /** Also the price of a message to a chat channel, through Amazon Q Developer. */
  snsHttps: 0.6 / 1e6,
  snsEmail: 2 / 1e5,

  // https://aws.amazon.com/dynamodb/pricing/on-demand/ – standard table class
  dynamodbWriteUnit: 0.625 / 1e6,
  dynamodbGigabyteMonth: 0.25,
  /** Point-in-time recovery, per gigabyte of the table. */
  dynamodbRecoveryGigabyteMonth: 0.2,

  // https://aws.amazon.com/s3/pricing/ – Standard
  s3Put: 0.005 / 1e3,
  s3GigabyteMonth: 0.023,

  // https://aws.amazon.com/firehose/pricing/ – direct PUT; each record is rounded up to 5 KB
  firehoseGigabyte: 0.029,

  // https://aws.amazon.com/secrets-manager/pricing/
  secretsManagerCall: 0.05 / 1e4,
  secretMonth: 0.4,

  // https://aws.amazon.com/kms/pricing/ – each of a key's first two rotations adds a dollar a month
  kmsRequest: 0.03 / 1e4,
  kmsKeyMonth: 1,

  // https://aws.amazon.com/cloudwatch/pricing/ – standard log class
  logGigabyte: 0.5,
  /** Per compressed gigabyte. */
  logStoredGigabyteMonth: 0.03,
  metricMonth: 0.3,
  alarmMonth: 0.1,
  dashboardMonth: 3,

  // https://aws.amazon.com/xray/pricing/ – traces recorded
  xrayTrace: 5 / 1e6,

  // https://aws.amazon.com/cloudfront/pricing/ – after the first 1,000 paths of a month
  cloudFrontInvalidationPath: 0.005,

  // https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer – to the internet; in costs nothing
  dataOutGigabyte: 0.09,
} as const;
