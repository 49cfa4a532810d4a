import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as z from 'zod';
import { type EventName, eventNames } from '../lambda/events/catalogue.ts';
import { didYouMean } from './did-you-mean.ts';

/** What a stage may lack without being wrong; `warnings.ts` says what each means. */
export const warningIds = [
  'no-alarm-recipient',
  'no-chat-channel',
  'no-review-recipient',
  'no-reserved-concurrency',
  'refusals-are-lost',
  'no-quiet-after',
  'relative-runbook',
] as const;

const wholeNumber = (minimum: number, maximum: number, unit: string) => {
  const [from, to] = [minimum, maximum].map((limit) => limit.toLocaleString('en'));
  const error = `must be a whole number of ${unit} from ${from} to ${to}`;
  return z.int(error).min(minimum, error).max(maximum, error);
};

const text = (pattern: RegExp, shape: string) =>
  z.string().regex(pattern, { error: `must be ${shape}`, abort: true });

const hasNoDuplicates = (items: readonly unknown[]) => new Set(items).size === items.length;

const emails = z
  .array(z.email('must be an e-mail address'))
  .refine(hasNoDuplicates, { error: 'names an address twice' })
  .default([]);

/** Source: Lambda quotas, "Memory allocation". */
const memory = wholeNumber(128, 10_240, 'MB')
  .default(512)
  .describe('Memory in MB, 128 to 10,240. Processor time comes with it.');

/** Source: Lambda quotas; an account has 1,000 unless it was raised. */
const reservedConcurrency = wholeNumber(1, 1_000_000, 'executions')
  .optional()
  .describe(
    'Concurrent executions that are reserved for this function, which it never exceeds. Each handles at most ten invocations a second. Lambda keeps 100 of the account’s unreserved. Default: none.',
  );

/** At most a week. Source: CloudWatch user guide, "Evaluating an alarm", of periods of an hour and above. */
const quietAfter = (what: string) =>
  wholeNumber(1, 168, 'hours')
    .optional()
    .describe(`An alarm rings if ${what} for this many hours, 1 to 168. Default: never.`);

/** A week, in minutes. */
const MAX_LAG = 10_080;

/**
 * Settings of one event. Sources: Lambda developer guide, "Using Lambda with Amazon SQS" (batch size without a window,
 * maximum concurrency of a source) and Lambda quotas (timeout). A timeout below 15 s would leave a batch no time: the
 * consumer keeps 9 s of it to archive and for what it has not finished, and a call takes up to 4 s.
 */
const eventSettings = z
  .strictObject({
    batchSize: wholeNumber(1, 10, 'messages')
      .default(10)
      .describe('An invocation gets at most this many messages, 1 to 10. More would need a batching window.'),
    maximumConcurrency: wholeNumber(2, 1_000, 'batches')
      .default(20)
      .describe(
        'At most this many batches are processed at a time, 2 to 1,000, so that a backlog leaves concurrency to the receiver.',
      ),
    memory,
    timeout: wholeNumber(15, 900, 'seconds')
      .default(30)
      .describe(
        'A batch may take this many seconds, 15 to 900. Its visibility timeout is six times as long.',
      ),
    reservedConcurrency,
    quietAfter: quietAfter('no event of this kind came to its queue (a redrive or a replay counts)'),
    lagAfter: wholeNumber(1, MAX_LAG, 'minutes')
      .optional()
      .describe(
        'As the stage’s lagAfter, in minutes, 1 to 10,080, for this event alone. It costs a metric and an alarm. Default: only the lag of all events together is watched.',
      ),
  })
  .refine(
    ({ reservedConcurrency: reserved, maximumConcurrency }) =>
      reserved === undefined || reserved > maximumConcurrency,
    {
      path: ['reservedConcurrency'],
      error: 'must be above maximumConcurrency: under load nothing would be left to try a new version with',
    },
  );

const slack = z.strictObject({
  workspaceId: text(/^T[A-Z0-9]{8,}$/, "Slack's id of the workspace, like T0123ABCD").describe(
    'Id of the workspace. Authorise it once in the console of Amazon Q Developer in chat applications.',
  ),
  channelId: text(/^[CG][A-Z0-9]{8,}$/, "Slack's id of the channel, like C0123ABCD").describe(
    'Id of the channel.',
  ),
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const teams = z.strictObject({
  tenantId: text(UUID, 'a UUID').describe('Id of the Microsoft Entra tenant.'),
  teamId: text(UUID, 'a UUID').describe('Id of the team. Authorise it once in the same console.'),
  channelId: text(
    /^19(:|%3a)[\w.+-]+(@|%40)thread\.\w+$/i,
    "Teams' id of the channel, like 19:…@thread.tacv2",
  ).describe('Id of the channel.'),
});

/**
 * Rule groups of AWS that can stand before the API. `lib/api/firewall.ts` says which of their rules only count. Source: AWS
 * WAF developer guide, "AWS Managed Rules rule groups list".
 */
const managedLists = [
  'AWSManagedRulesAmazonIpReputationList',
  'AWSManagedRulesKnownBadInputsRuleSet',
  'AWSManagedRulesCommonRuleSet',
] as const;

const waf = z.strictObject({
  requestsPerAddress: wholeNumber(10, 2_000_000_000, 'requests')
    .default(100_000)
    .describe('An address that sends more requests than this in five minutes is blocked.'),
  managedLists: z
    .array(z.enum(managedLists), { error: `must be a list of ${managedLists.join(', ')}` })
    .refine(hasNoDuplicates, { error: 'names a list twice' })
    .default(['AWSManagedRulesAmazonIpReputationList'])
    .describe(
      `AWS’ managed lists: ${managedLists.join(', ')}. Their rules on bodies and User-Agent only count (security.md).`,
    ),
});

const cloudFront = z.strictObject({
  distributionId: text(/^E[A-Z0-9]{7,}$/, 'the id of a distribution, like E1ABCDEF2GHIJK').describe(
    'Id of the distribution.',
  ),
  paths: z
    .array(
      text(
        /^\/(?:[!-z|]|\{shop_id\}){0,3999}$/,
        'a path of at most 4,000 ASCII characters that begins with / and has no braces but {shop_id}',
      ),
    )
    .min(1)
    .describe('Paths to invalidate. {shop_id} stands for the shop.'),
});

const archive = z.strictObject({
  days: wholeNumber(0, 3_650, 'days')
    .default(30)
    .describe(
      'A record is kept for this many days, 0 to 3,650; 0 is no archive. A replay reaches back 60 at most. Setting 0 on a live stage deletes the delivery streams with the records that they have not yet written, and the database and workgroup of Athena with its saved queries. With removalPolicy: retain the bucket stays, its records expire as before, and no command finds it again: a later archive gets another bucket.',
    ),
  bufferSeconds: wholeNumber(60, 900, 'seconds')
    .default(900)
    .describe(
      'Firehose collects records for an object for this many seconds, 60 to 900. Less shows records earlier and costs more objects.',
    ),
  queryGigabytes: wholeNumber(1, 1_000, 'gigabytes')
    .default(10)
    .describe(
      'A query in Athena ends if it reads more gigabytes of compressed records than this, 1 to 1,000.',
    ),
});

/** Days that CloudWatch Logs can keep a log. Source: its API reference, `PutRetentionPolicy`. */
const RETENTION_DAYS = Object.values(RetentionDays).filter(
  (days): days is number => typeof days === 'number' && days !== RetentionDays.INFINITE,
);

/** Such as `eu-central-1`, `us-gov-west-1`, and `eusc-de-east-1` of the European Sovereign Cloud. */
const REGION = /^[a-z]{2,4}(-[a-z]+)+-\d$/;

/** Where a stage is deployed to, as far as it is known. */
interface Target {
  readonly account?: string | undefined;
  readonly region?: string | undefined;
}

/** An ARN as far as all services agree on it: partition, service, region, account, resource. */
const arnIn =
  ({ account, region }: Target) =>
  (service: string, resource: string, example: string) =>
    text(
      new RegExp(`^arn:aws[\\w-]*:${service}:[a-z0-9-]+:\\d{12}:${resource}$`),
      `an ARN like arn:aws:${service}:eu-central-1:111122223333:${example}`,
    )
      .refine((value) => account === undefined || value.split(':')[4] === account, {
        error: `must be of the stage's account, ${account}`,
      })
      .refine((value) => region === undefined || value.split(':')[3] === region, {
        error: `must be of the stage's region, ${region}`,
      });

const REASON = 'must be a reason';

/** A rule about several fields. It is checked, and its error shown, even if other fields are wrong. */
const across = (field: string, error: string) => ({ path: field.split('.'), error, when: () => true });

/** Every field of a stage, with its unit, default and effect. Any other field is refused. */
export function configSchema(target: Target = {}) {
  const arn = arnIn(target);
  const secret = arn('secretsmanager', 'secret:\\S+-\\w{6}', 'secret:partner-AbCdEf');
  const key = arn('kms', 'key/\\S+', 'key/…');
  const certificate = arn('acm', 'certificate/\\S+', 'certificate/…');
  const domain = z
    .strictObject({
      name: text(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name like webhooks.example.com').describe(
        'Host name.',
      ),
      certificateArn: certificate.describe('ARN of a certificate for it in ACM, in the same region.'),
      keepDefaultEndpoint: z
        .boolean()
        .default(false)
        .describe('Keeps the default endpoint on, until the partner has moved to the host name.'),
      ownershipCertificateArn: certificate
        .optional()
        .describe(
          'ARN of a public certificate for the same name. mutualTls needs it if certificateArn is an imported or private certificate. Default: none.',
        ),
      mutualTls: z
        .strictObject({
          bucket: text(/^[a-z0-9.-]{3,63}$/, 'the name of an S3 bucket').describe(
            'Name of the bucket with the trust store.',
          ),
          key: text(/^[^/\s]\S*$/, 'the key of an object, without a slash before it').describe(
            'Key of the trust store: a PEM file of certificate authorities.',
          ),
          version: z.string().min(1).optional().describe('Version of the object. Default: the newest.'),
        })
        .optional()
        .describe('Requires a client certificate of each caller. Default: none is asked for.'),
    })
    .refine(({ mutualTls, keepDefaultEndpoint }) => !(mutualTls && keepDefaultEndpoint), {
      path: ['keepDefaultEndpoint'],
      error: 'cannot be true with mutualTls: it would lead round the client certificates',
    })
    // Source: API Gateway API reference, `ownershipVerificationCertificateArn` of `CreateDomainName`.
    .refine(({ mutualTls, ownershipCertificateArn }) => mutualTls || ownershipCertificateArn === undefined, {
      path: ['ownershipCertificateArn'],
      error: 'is for mutualTls alone: give mutualTls, too, or leave it out',
    });
  const events = Object.fromEntries(
    eventNames.map((event) => [event, eventSettings.prefault({}).describe('The consumer of the event.')]),
  ) as Record<EventName, z.ZodPrefault<typeof eventSettings>>;

  return z
    .strictObject({
      account: text(/^\d{12}$/, '12 digits')
        .optional()
        .describe('The only account that this stage is deployed to. Default: that of the credentials.'),
      region: text(REGION, 'a region like eu-central-1')
        .optional()
        .describe('The only region that this stage is deployed to. Default: that of the credentials.'),

      removalPolicy: z
        .enum(['retain', 'destroy'])
        .default('retain')
        .describe(
          'What becomes of tables, queues, topics’ key, bucket, secret and logs when their stack is deleted.',
        ),
      terminationProtection: z.boolean().default(true).describe('Refuses to delete the stack.'),
      deletionProtection: z
        .boolean()
        .optional()
        .describe('Refuses to delete a table. Default: true if removalPolicy is retain.'),
      deployment: z
        .enum(['canary', 'all-at-once'])
        .default('canary')
        .describe(
          'canary: a new version gets 10 % of the traffic for five minutes, then all; an alarm rolls it back (CodeDeploy).',
        ),

      secretArn: secret
        .optional()
        .describe(
          'Complete ARN of an existing secret that the partner signs with. Default: one is generated.',
        ),
      previousSecretArn: secret
        .optional()
        .describe(
          'ARN of the secret that the deployed version reads. For the deployment that changes secretArn only. Default: none.',
        ),
      secretKmsKeyArn: key
        .optional()
        .describe(
          'ARN of the key that the existing secret is encrypted under. Default: Secrets Manager’s own.',
        ),
      rotationGraceHours: wholeNumber(0, 168, 'hours')
        .default(24)
        .describe('The previous secret is accepted for this many hours after a rotation, 0 to 168.'),
      kmsKeyArn: key
        .optional()
        .describe(
          'ARN of an existing key for the topics. Its policy must admit cloudwatch.amazonaws.com. Default: one is made.',
        ),

      domain: domain
        .optional()
        .describe('Own host name. The API’s default endpoint is then off. Default: the default endpoint.'),
      gateway: z
        .enum(['http', 'rest'])
        .default('http')
        .describe(
          'http: an HTTP API. rest: a REST API, which costs more; its own failures become 500, which the partner repeats.',
        ),
      waf: waf
        .optional()
        .describe('AWS WAF before a REST API. What it blocks is answered 500. Default: none.'),
      apiThrottle: z
        .strictObject({
          rate: wholeNumber(1, 1_000_000, 'requests a second').default(10_000).describe('Requests a second.'),
          burst: wholeNumber(1, 1_000_000, 'requests').default(5_000).describe('Requests at once.'),
        })
        .prefault({})
        .describe(
          'Limit above which an HTTP API answers 429, which the partner is not promised to repeat (D16), and a REST API 500.',
        ),

      receiver: z
        .strictObject({
          memory,
          timeout: wholeNumber(20, 29, 'seconds')
            .default(28)
            .describe(
              'Timeout in seconds, 20 to 29: above what its AWS calls take at their worst, below API Gateway’s 30.',
            ),
          reservedConcurrency,
        })
        .prefault({})
        .describe('The receiver.'),
      events: z
        .strictObject(events)
        .prefault({})
        .describe('The consumer of each event, by the event’s name.'),
      cloudFront: cloudFront
        .optional()
        .describe('CloudFront distribution to invalidate besides the shop cache. Default: none.'),

      alarmEmails: emails.describe('Addresses that every alarm is mailed to.'),
      reviewEmails: emails.describe('Addresses that every review is mailed to.'),
      chat: z
        .strictObject({
          slack: slack.optional().describe('A Slack channel. Default: none.'),
          teams: teams.optional().describe('A Microsoft Teams channel. Default: none.'),
        })
        .prefault({})
        .describe('Where chat notifications are shown (Amazon Q Developer in chat applications).'),
      runbook: z
        .string()
        .min(1)
        .default('docs/operations.md')
        .describe('Where operations.md is published. The links in alarms begin with it.'),
      quietAfter: quietAfter('nothing was accepted, of any kind'),
      lagAfter: wholeNumber(0, MAX_LAG, 'minutes')
        .default(60)
        .describe(
          'An alarm rings if the median of an hour, of all events together, is this many minutes from the partner’s timestamp to the receipt. 0 is no alarm.',
        ),
      acknowledgedWarnings: z
        .partialRecord(
          z.enum(warningIds),
          z.string(REASON).refine((reason) => reason.trim() !== '', REASON),
        )
        .default({})
        .describe(
          `The reason why this stage lacks what the synthesis warns of, for each warning: ${warningIds.join(', ')}.`,
        ),
      encryption: z
        .strictObject({
          keyArn: key
            .optional()
            .describe(
              'ARN of an existing key; what its policy must admit is in security.md. Default: one is made.',
            ),
        })
        .optional()
        .describe(
          'Own key for all that holds personal data: tables, queues, bucket, logs, topics, secret. Default: AWS’ own keys, and kmsKeyArn for the topics.',
        ),
      archive: archive
        .prefault({})
        .describe('Keeps what became of each message, for replays, questions and proof, by Firehose in S3.'),
      savedQueries: z
        .boolean()
        .default(true)
        .describe(
          'Saves queries in Logs Insights, which shows those of all stages of an account in one list, and in Athena.',
        ),
      tracing: z
        .boolean()
        .default(false)
        .describe(
          'X-Ray follows deliveries, also through the queues: one of each second and 5 % of the others. For its price see scale-and-cost.md.',
        ),
      platformLogs: z
        .boolean()
        .default(false)
        .describe(
          'Lambda logs the start and the report of each invocation, with its memory and how long a start took. It always logs those of failed ones.',
        ),
      logRetentionDays: z
        .literal(
          RETENTION_DAYS,
          `must be a number of days that CloudWatch Logs knows: ${RETENTION_DAYS.join(', ')}`,
        )
        .default(RetentionDays.ONE_MONTH)
        .describe('Logs are kept for this many days.'),
    })
    .refine(
      (stage) => stage?.secretKmsKeyArn === undefined || stage.secretArn !== undefined,
      across('secretKmsKeyArn', 'is the key of an existing secret: give its secretArn, too'),
    )
    .refine(
      (stage) => stage?.waf === undefined || stage.gateway === 'rest',
      across('waf', 'needs gateway: rest, as AWS WAF does not work with an HTTP API'),
    )
    .refine(
      (stage) => !(stage?.gateway === 'rest' && stage.receiver?.timeout === 29),
      across('receiver.timeout', 'must be at most 28 seconds with gateway: rest, which waits for 29 seconds'),
    )
    .refine(
      (stage) => stage?.kmsKeyArn === undefined || stage.encryption === undefined,
      across(
        'kmsKeyArn',
        'is the key of the topics alone, and encryption has one for everything: give one of the two',
      ),
    )
    .refine(
      (stage) => !(stage?.deletionProtection && stage.removalPolicy === 'destroy'),
      across(
        'deletionProtection',
        'cannot be true where removalPolicy is destroy: the stack could not be deleted',
      ),
    );
}

/** The configuration of a stage, complete and checked. */
export type StageConfig = z.output<ReturnType<typeof configSchema>> & {
  readonly deletionProtection: boolean;
};

export type EventSettings = z.output<typeof eventSettings>;

/**
 * The configuration of a stage: the fields given for it, and defaults for all others.
 * @param given value of the context `stages.<stage>`
 * @param credentials account and region of the credentials of this synthesis, as far as they are known
 * @throws Error naming every field that is unknown or wrong
 */
export function parseConfig(stage: string, given: unknown, credentials: Target = {}): StageConfig {
  const stated = z
    .looseObject({ account: z.string().optional(), region: z.string().optional() })
    .safeParse(given);
  const schema = configSchema({ ...credentials, ...stated.data });
  const parsed = schema.safeParse(given, { error: problemText });
  if (!parsed.success) {
    const lines = parsed.error.issues.flatMap((issue) => describeIssue(schema, issue));
    throw new Error([`The configuration of stage '${stage}' cannot be used:`, ...lines].join('\n  '));
  }
  const { data } = parsed;
  return { ...data, deletionProtection: data.deletionProtection ?? data.removalPolicy === 'retain' };
}

/** What a value of each type is called. */
const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

/** What is wrong with a value if its field has no text of its own. */
function problemText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return 'must not be empty';
    default:
      return undefined;
  }
}

function describeIssue(schema: z.ZodType, issue: z.core.$ZodIssue): string[] {
  const field = (...more: PropertyKey[]) => [...issue.path, ...more].map(String).join('.') || 'stage';
  if (issue.code !== 'unrecognized_keys') return [`${field()}: ${issue.message}`];
  const known = fieldsAt(schema, issue.path);
  return issue.keys.map((key) => {
    const meant = didYouMean(key, known);
    return `${field(key)}: is no field${meant && `.${meant}`}`;
  });
}

/** Names of the fields that the object at a path can have. */
function fieldsAt(schema: unknown, [key, ...path]: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return fieldsAt(schema.unwrap(), key === undefined ? [] : [key, ...path]);
  }
  if (schema instanceof z.ZodRecord && schema.keyType instanceof z.ZodEnum) {
    return schema.keyType.options.map(String);
  }
  if (!(schema instanceof z.ZodObject)) return [];
  return key === undefined ? Object.keys(schema.shape) : fieldsAt(schema.shape[String(key)], path);
}

export const stackNameOf = (stage: string) => `PartnerWebhooks-${stage}`;

/** The name ends the stack's. Source: `StackName` in the CloudFormation API reference, `CreateStack`. */
const STAGE_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;

/**
 * Finds a stage in the context of `cdk.json`.
 * @param stages value of the context `stages`: an object, or the same as JSON text (`-c stages='{…}'`)
 * @param name value of the context `stage`
 * @returns its fields as they are given
 * @throws Error naming the stages that exist
 */
export function findStage(stages: unknown, name: unknown): unknown {
  const all = z
    .record(z.string(), z.unknown())
    .safeParse(typeof stages === 'string' ? fromJson(stages) : stages);
  if (!all.success)
    throw new Error('The context `stages` must be a JSON object: the fields of each stage by its name');
  if (typeof name === 'string' && Object.hasOwn(all.data, name)) {
    if (STAGE_NAME.test(name)) return all.data[name];
    throw new Error(`The name of stage '${name}' must be up to 64 letters, digits and hyphens`);
  }
  throw new Error(
    `No stage '${String(name)}'. Use -c stage=NAME with one of: ${Object.keys(all.data).join(', ')}`,
  );
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
