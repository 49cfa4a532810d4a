import { RegionInfo } from 'aws-cdk-lib/region-info';
import * as z from 'zod';
import { type EventName, eventNames, isEventName } from '../lambda/events/catalogue.ts';
import {
  GATEWAY_TIMEOUT_SECONDS,
  MAX_FUNCTION_SECONDS,
  MIN_CONSUMER_SECONDS,
  MIN_RECEIVER_SECONDS,
  RATE_WINDOW_SECONDS,
  REPLAYABLE_DAYS,
  VISIBILITY_TIMEOUTS,
} from '../lambda/limits.ts';
import { describeIssue, problemText } from './config-errors.ts';

/** Warnings that a stage may give. `warnings.ts` has their texts. */
export const warningIds = [
  'no-alarm-recipient',
  'no-chat-channel',
  'no-review-recipient',
  'no-reserved-concurrency',
  'refusals-are-lost',
  'no-quiet-after',
  'relative-runbook',
  'wildcard-invalidations',
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
  .refine(hasNoDuplicates, { error: 'must not contain an address twice' })
  .default([]);

/** Source: Lambda quotas, "Memory allocation". */
const memory = wholeNumber(128, 10_240, 'MB')
  .default(512)
  .describe('MB, 128 to 10,240. More memory also gives more processor time.');

/** The default concurrency of an account is 1,000. Source: Lambda quotas. */
const reservedConcurrency = wholeNumber(1, 1_000_000, 'executions')
  .optional()
  .describe(
    'Concurrent executions reserved for this function, and its maximum. Each handles at most ten invocations a second. 100 of the account must stay unreserved.',
  );

/**
 * CloudWatch allows at most a week. Source: CloudWatch user guide, "Evaluating an alarm", for periods of an hour or
 * more.
 */
const quietAfter = (condition: string) =>
  wholeNumber(1, 168, 'hours')
    .optional()
    .describe(`An alarm fires if ${condition} for this many hours, 1 to 168.`);

/** Minutes: a week, the longest time that an alarm can evaluate. */
const MAX_LAG = 10_080;

/**
 * Settings of one event. Sources: Lambda developer guide, "Using Lambda with Amazon SQS" (batch size without a window,
 * maximum concurrency of a source) and Lambda quotas (timeout).
 */
const eventSettings = z
  .strictObject({
    batchSize: wholeNumber(1, 10, 'messages').default(10).describe('Messages in a batch, 1 to 10.'),
    maximumConcurrency: wholeNumber(2, 1_000, 'batches')
      .default(20)
      .describe(
        'Batches processed at the same time, 2 to 1,000. A lower value leaves the receiver more concurrency.',
      ),
    memory: memory.describe('As for the receiver.'),
    timeout: wholeNumber(MIN_CONSUMER_SECONDS, MAX_FUNCTION_SECONDS, 'seconds')
      .default(30)
      .describe(
        `Seconds for a batch, ${MIN_CONSUMER_SECONDS} to ${MAX_FUNCTION_SECONDS}. The visibility timeout is ${VISIBILITY_TIMEOUTS} times as long.`,
      ),
    reservedConcurrency: reservedConcurrency.describe('As for the receiver. Above maximumConcurrency.'),
    quietAfter: quietAfter('the queue received nothing, not even a redrive or replay,'),
  })
  .refine(
    ({ reservedConcurrency: reserved, maximumConcurrency }) =>
      reserved === undefined || reserved > maximumConcurrency,
    {
      path: ['reservedConcurrency'],
      error: 'must be above maximumConcurrency, so that a new version can be tested under load',
    },
  );

const slack = z.strictObject({
  workspaceId: text(/^T[A-Z0-9]{8,}$/, "Slack's id of the workspace, like T0123ABCD").describe(
    'Id of the workspace. Authorise it first (deploying.md).',
  ),
  channelId: text(/^[CG][A-Z0-9]{8,}$/, "Slack's id of the channel, like C0123ABCD").describe(
    'Id of the channel.',
  ),
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const teams = z.strictObject({
  tenantId: text(UUID, 'a UUID').describe('Id of the Microsoft Entra tenant.'),
  teamId: text(UUID, 'a UUID').describe('Id of the team. Authorise it first.'),
  channelId: text(
    /^19(:|%3a)[\w.+-]+(@|%40)thread\.\w+$/i,
    "Teams' id of the channel, like 19:…@thread.tacv2",
  ).describe('Id of the channel.'),
});

/**
 * AWS's managed rule groups that can be used. `lib/api/firewall.ts` lists the rules that only count. Source: AWS WAF
 * developer guide, "AWS Managed Rules rule groups list".
 */
const managedLists = [
  'AWSManagedRulesAmazonIpReputationList',
  'AWSManagedRulesKnownBadInputsRuleSet',
  'AWSManagedRulesCommonRuleSet',
] as const;

const waf = z.strictObject({
  requestsPerAddress: wholeNumber(10, 2_000_000_000, 'requests')
    .default(100_000)
    .describe(
      `WAF blocks an IP address above this many requests in ${RATE_WINDOW_SECONDS / 60} minutes, 10 to 2,000,000,000.`,
    ),
  managedLists: z
    .array(z.enum(managedLists), { error: `must be a list of ${managedLists.join(', ')}` })
    .refine(hasNoDuplicates, { error: 'must not contain a list twice' })
    .default(['AWSManagedRulesAmazonIpReputationList'])
    .describe(`AWS’ lists (security.md): ${managedLists.join(', ')}.`),
});

/**
 * Bytes of `cloudFront.paths` as JSON. A function may have 4 KB of environment variables, and the others of this one
 * take up to 2 KB. Source: Lambda quotas, "Environment variables".
 */
export const MAX_PATHS_BYTES = 2_048;

const cloudFront = z.strictObject({
  distributionId: text(/^E[A-Z0-9]{7,}$/, 'the id of a distribution, like E1ABCDEF2GHIJK').describe(
    'Its id.',
  ),
  paths: z
    .array(
      text(
        /^\/(?:[!-z|]|\{shop_id\}){0,3999}$/,
        'a path of at most 4,000 ASCII characters that begins with / and has no braces but {shop_id}',
      ),
    )
    .min(1)
    // The length is in bytes, because the paths are ASCII.
    .refine((paths) => JSON.stringify(paths).length <= MAX_PATHS_BYTES, {
      error: `must have at most ${MAX_PATHS_BYTES.toLocaleString('en')} bytes as JSON, because Lambda limits environment variables to 4 KB`,
    })
    .describe(
      `Paths to invalidate. {shop_id} stands for the id. CloudFront takes only 15 paths with * at a time. At most ${MAX_PATHS_BYTES.toLocaleString('en')} bytes as JSON.`,
    ),
});

/** Environment variables share 4 KB. These take 1 KB, the receiver's others up to 3 KB. Source: as above. */
const MAX_IGNORED_EVENTS = 16;

const ignoredEvents = z
  .array(
    text(/^[!-~]{1,64}$/, 'the name of an event in at most 64 ASCII characters without white space').refine(
      (name) => !isEventName(name),
      'must not be an event that this version processes. To stop one, use npx hookctl pause',
    ),
  )
  .max(MAX_IGNORED_EVENTS, `must have at most ${MAX_IGNORED_EVENTS} events`)
  .default([])
  .describe(
    `Unknown kinds, such as menu.updated, that get 200 \`ignored\` and are not stored. They are lost. At most ${MAX_IGNORED_EVENTS}.`,
  );

const archive = z.strictObject({
  days: wholeNumber(0, 3_650, 'days')
    .default(30)
    .describe(
      `Days that records are kept, 0 to 3,650. Replays reach back at most ${REPLAYABLE_DAYS}. 0: off. On a live stage, 0 deletes the delivery streams, with records not yet written, and everything of Athena. A retained bucket stays and its records expire, but no command reads it again. A later archive gets a new bucket.`,
    ),
});

/**
 * Retention periods of CloudWatch Logs, in days. Source: its API reference, `PutRetentionPolicy`. The import of the
 * CDK's `RetentionDays` would load hundreds of its modules, also in commands that use nothing else of it.
 */
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const REGIONS = RegionInfo.regions.map(({ name }) => name);

/** Account and region to which a stage will be deployed, if known. */
interface DeploymentTarget {
  readonly account?: string | undefined;
  readonly region?: string | undefined;
}

/** An ARN in the form that all services share: partition, service, region, account, resource. */
const arnIn =
  ({ account, region }: DeploymentTarget) =>
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

const REASON = 'must be the reason, as text';

/** A rule about several fields. It is checked, and its error shown, even if other fields are wrong. */
const across = (field: string, error: string) => ({ path: field.split('.'), error, when: () => true });

/** Every field of a stage, with its unit, default and effect. Other fields are rejected. */
export function configSchema(target: DeploymentTarget = {}) {
  const arn = arnIn(target);
  const secret = arn('secretsmanager', 'secret:\\S+-\\w{6}', 'secret:partner-AbCdEf');
  const key = arn('kms', 'key/\\S+', 'key/…');
  const certificate = arn('acm', 'certificate/\\S+', 'certificate/…');
  const domain = z
    .strictObject({
      name: text(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name like webhooks.example.com').describe(
        'The host name.',
      ),
      certificateArn: certificate.describe('ARN of its ACM certificate, in the same region.'),
      keepDefaultEndpoint: z
        .boolean()
        .default(false)
        .describe('The default endpoint stays on while the partner moves.'),
      ownershipCertificateArn: certificate
        .optional()
        .describe(
          'ARN of a public certificate for the name. mutualTls needs it if certificateArn is imported or private.',
        ),
      mutualTls: z
        .strictObject({
          bucket: text(/^[a-z0-9.-]{3,63}$/, 'the name of an S3 bucket').describe(
            'S3 bucket of the trust store.',
          ),
          key: text(/^[^/\s]\S*$/, 'the key of an object, without a slash before it').describe(
            'Its key: a PEM file.',
          ),
          // API Gateway reads the trust store again only if its version changes. Source: `MutualTlsAuthentication`.
          version: z
            .string({
              error: 'must be the version id of the object, so that a new trust store takes effect',
            })
            .min(1)
            .describe('Its version id. A new trust store takes effect only with its new version.'),
        })
        .optional()
        .describe('Every caller needs a client certificate (deploying.md).'),
    })
    .refine(({ mutualTls, keepDefaultEndpoint }) => !(mutualTls && keepDefaultEndpoint), {
      path: ['keepDefaultEndpoint'],
      error: 'cannot be true with mutualTls, because the default endpoint asks for no client certificate',
    })
    // Required by `CreateDomainName`. Source: API Gateway API reference, `ownershipVerificationCertificateArn`.
    .refine(({ mutualTls, ownershipCertificateArn }) => mutualTls || ownershipCertificateArn === undefined, {
      path: ['ownershipCertificateArn'],
      error: 'needs mutualTls: set that too, or remove this field',
    });
  const events = Object.fromEntries(
    eventNames.map((event) => [event, eventSettings.prefault({}).describe('The consumer of the event.')]),
  ) as Record<EventName, z.ZodPrefault<typeof eventSettings>>;

  return z
    .strictObject({
      account: text(/^\d{12}$/, '12 digits')
        .optional()
        .describe('A deployment to another account fails. Default: that of the credentials.'),
      region: z
        .enum(REGIONS, 'must be a region that aws-cdk-lib knows, like eu-central-1')
        .optional()
        .describe('A deployment to another region fails. Default: that of the credentials.'),

      removalPolicy: z
        .enum(['retain', 'destroy'])
        .default('retain')
        .describe(
          'retain: if the stack is deleted, tables, queues, buckets, secret, key and logs stay, and DynamoDB refuses to delete a table. destroy: they are deleted.',
        ),
      terminationProtection: z
        .boolean()
        .default(true)
        .describe('CloudFormation refuses to delete the stack.'),
      deployment: z
        .enum(['canary', 'all-at-once'])
        .default('canary')
        .describe(
          'canary: a new receiver gets 10 % of the traffic for five minutes. An alarm rolls it back. Or all-at-once.',
        ),

      secretArn: secret.optional().describe('Complete ARN of an existing secret. Default: a new secret.'),
      secretKmsKeyArn: key
        .optional()
        .describe('ARN of the key of that secret. Default: Secrets Manager’s own key.'),
      rotationGraceHours: wholeNumber(0, 168, 'hours')
        .default(24)
        .describe('Hours for which the previous secret is accepted after a rotation, 0 to 168.'),

      domain: domain.optional().describe('Your own host name. It turns off the default endpoint.'),
      gateway: z
        .enum(['http', 'rest'])
        .default('http')
        .describe('http: an HTTP API. rest: a REST API (deploying.md).'),
      waf: waf.optional().describe('AWS WAF, with gateway: rest. Blocked requests get 500.'),
      apiThrottle: z
        .strictObject({
          rate: wholeNumber(1, 1_000_000, 'requests a second').default(10_000).describe('Requests a second.'),
          burst: wholeNumber(1, 1_000_000, 'requests').default(5_000).describe('Requests at once.'),
        })
        .prefault({})
        .describe(
          'Above it, an HTTP API answers 429, which the partner may not repeat (D16), and a REST API 500.',
        ),

      receiver: z
        .strictObject({
          memory,
          timeout: wholeNumber(MIN_RECEIVER_SECONDS, GATEWAY_TIMEOUT_SECONDS - 1, 'seconds')
            .default(GATEWAY_TIMEOUT_SECONDS - 1)
            .describe(
              `Seconds, ${MIN_RECEIVER_SECONDS} to ${GATEWAY_TIMEOUT_SECONDS - 1}. Shorter than the gateway’s: ${GATEWAY_TIMEOUT_SECONDS} s.`,
            ),
          reservedConcurrency,
        })
        .prefault({})
        .describe('The function that receives deliveries.'),
      events: z.strictObject(events).prefault({}).describe('Settings of each event’s consumer.'),
      ignoredEvents,
      cloudFront: cloudFront
        .optional()
        .describe('CloudFront distribution to invalidate when a shop changes.'),

      alarmEmails: emails.describe('Addresses that get every alarm.'),
      reviewEmails: emails.describe('Addresses that get every review.'),
      chat: z
        .strictObject({
          slack: slack.optional().describe('A Slack channel that no other stack of the account configures.'),
          teams: teams.optional().describe('A Microsoft Teams channel.'),
        })
        .prefault({})
        .describe('Channels for chat notifications (deploying.md).'),
      // The URL becomes part of the template, which must be ASCII.
      runbook: text(/^[!-~]+$/, 'a URL of ASCII characters: percent-encode all others')
        .default('docs/operations.md')
        .describe('URL of the published operations.md, for links in alarms.'),
      quietAfter: quietAfter('no event was accepted'),
      lagAfter: wholeNumber(0, MAX_LAG, 'minutes')
        .default(60)
        .describe(
          'An alarm fires if the median event of an hour arrives this many minutes after its timestamp, 0 to 10,080. 0: off.',
        ),
      acknowledgedWarnings: z
        .partialRecord(
          z.enum(warningIds),
          z.string(REASON).refine((reason) => reason.trim() !== '', REASON),
        )
        .default({})
        .describe('Reasons that silence warnings of cdk synth, by the name that the warning shows.'),
      encryption: z
        .strictObject({
          keyArn: key
            .optional()
            .describe('ARN of an existing key, with the policy in security.md. Default: a new key.'),
        })
        .optional()
        .describe(
          'One key of yours for tables, queues, buckets, logs, topics and secret. Default: AWS’ own keys, and a key of the stack for the topics.',
        ),
      archive: archive.prefault({}).describe('Records of settled messages in S3.'),
      tracing: z
        .boolean()
        .default(false)
        .describe('X-Ray traces one delivery a second and 5 % of the others. Price: scale-and-cost.md.'),
      logRetentionDays: z
        .literal(
          RETENTION_DAYS,
          `must be a number of days that CloudWatch Logs supports: ${RETENTION_DAYS.join(', ')}`,
        )
        .default(30)
        .describe('Days that logs are kept, such as 7, 30, 90 or 365.'),
    })
    .refine(
      (stage) => stage?.secretKmsKeyArn === undefined || stage.secretArn !== undefined,
      across('secretKmsKeyArn', 'needs secretArn, because it is the key of an existing secret'),
    )
    .refine(
      (stage) => stage?.waf === undefined || stage.gateway === 'rest',
      across('waf', 'needs gateway: rest, because AWS WAF does not work with an HTTP API'),
    );
}

/** The complete and validated configuration of a stage. */
export type StageConfig = z.output<ReturnType<typeof configSchema>>;

export type EventSettings = z.output<typeof eventSettings>;

/**
 * The configuration of a stage: the given fields, and defaults for all others.
 * @param given value of the context `stages.<stage>`
 * @param credentials account and region of the credentials of this synthesis, if known
 * @throws Error naming every unknown or wrong field
 */
export function parseConfig(stage: string, given: unknown, credentials: DeploymentTarget = {}): StageConfig {
  const stated = z
    .looseObject({ account: z.string().optional(), region: z.string().optional() })
    .safeParse(given);
  const schema = configSchema({ ...credentials, ...stated.data });
  const parsed = schema.safeParse(given, { error: problemText, reportInput: true });
  if (!parsed.success) {
    const lines = parsed.error.issues.flatMap((issue) => describeIssue(schema, issue));
    throw new Error(
      [`Stage '${stage}' has an invalid configuration. Correct these fields:`, ...lines].join('\n  '),
    );
  }
  return parsed.data;
}

export const stackNameOf = (stage: string) => `PartnerWebhooks-${stage}`;
