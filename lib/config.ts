import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import * as z from 'zod';
import { optional, prefault } from 'zod';
import { type EventName, eventNames, isEventName } from '../lambda/events/catalogue.ts';
import {
  MAX_FUNCTION_SECONDS,
  MIN_CONSUMER_SECONDS,
  RATE_WINDOW_SECONDS,
  REPLAYABLE_DAYS,
  VISIBILITY_TIMEOUTS,
} from '../lambda/limits.ts';
import { describeIssue, problemText } from './config-errors.ts';

/** Types of fields. An error says what the field must be. */
const wholeNumber = (unit: string, from: number, to: number) => {
  const [least, most] = [from, to].map((limit) => limit.toLocaleString('en'));
  const error = `must be a whole number of ${unit} from ${least} to ${most}`;
  return z.int(error).min(from, error).max(to, error);
};

const text = (pattern: RegExp, shape: string) =>
  z.string().regex(pattern, { error: `must be ${shape}`, abort: true });

/** @param one a thing of the list, with its article */
const listOf = <Item extends z.ZodType>(item: Item, one: string) =>
  z.array(item).refine((items) => new Set(items).size === items.length, `must not contain ${one} twice`);

const emails = listOf(z.email('must be an e-mail address'), 'an address');

/** Source: Lambda quotas, "Memory allocation". */
const memory = prefault(wholeNumber('MB', 128, 10_240), 512).describe(
  'MB. More memory also gives more processor time.',
);

const receiver = z.strictObject({
  memory,
  reservedConcurrency: optional(wholeNumber('executions', 1, 1_000_000)).describe(
    'Concurrent executions reserved for this function, and its maximum. Each handles at most ten invocations a second.',
  ),
});

/**
 * Settings of one event. Sources: Lambda developer guide, "Using Lambda with Amazon SQS" (batch size without a window,
 * maximum concurrency of a source) and Lambda quotas (timeout).
 */
const eventSettings = z.strictObject({
  batchSize: prefault(wholeNumber('messages', 1, 10), 10).describe('Messages in a batch.'),
  maximumConcurrency: prefault(wholeNumber('batches', 2, 1_000), 20).describe(
    'Batches processed at the same time. A lower value leaves the receiver more concurrency.',
  ),
  memory,
  timeout: prefault(wholeNumber('seconds', MIN_CONSUMER_SECONDS, MAX_FUNCTION_SECONDS), 30).describe(
    `Seconds for a batch. The visibility timeout is ${VISIBILITY_TIMEOUTS} times as long.`,
  ),
});

const events = Object.fromEntries(
  eventNames.map((event) => [event, prefault(eventSettings, {}).describe('The consumer of the event.')]),
) as Record<EventName, z.ZodPrefault<typeof eventSettings>>;

const slack = z.strictObject({
  workspaceId: text(/^T[A-Z0-9]{8,}$/, "Slack's id of the workspace, like T0123ABCD").describe(
    'Id of the workspace. Authorise it first (deploying.md).',
  ),
  channelId: text(/^[CG][A-Z0-9]{8,}$/, "Slack's channel id, like C0123ABCD").describe('Id of the channel.'),
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TEAMS_CHANNEL = /^19(:|%3a)[\w.+-]+(@|%40)thread\.\w+$/i;
const teams = z.strictObject({
  tenantId: text(UUID, 'a UUID').describe('Id of the Microsoft Entra tenant.'),
  teamId: text(UUID, 'a UUID').describe('Id of the team. Authorise it first.'),
  channelId: text(TEAMS_CHANNEL, "Teams' channel id, like 19:…@thread.tacv2").describe('Id of the channel.'),
});

const chat = z.strictObject({
  slack: optional(slack).describe('A Slack channel that no other stack of the account configures.'),
  teams: optional(teams).describe('A Microsoft Teams channel.'),
});

const apiThrottle = z.strictObject({
  rate: prefault(wholeNumber('requests a second', 1, 1_000_000), 10_000).describe('Requests a second.'),
  burst: prefault(wholeNumber('requests', 1, 1_000_000), 5_000).describe('Requests at once.'),
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
  requestsPerAddress: prefault(wholeNumber('requests', 10, 2_000_000_000), 100_000).describe(
    `WAF blocks an IP address above this many requests in ${RATE_WINDOW_SECONDS / 60} minutes.`,
  ),
  managedLists: prefault(listOf(z.enum(managedLists), 'a list'), [managedLists[0]]).describe(
    `AWS’ lists (security.md): ${managedLists.join(', ')}.`,
  ),
});

/**
 * Bytes of `cloudFront.paths` as JSON. A function may have 4 KB of environment variables, and the others of this one
 * take up to 2 KB. Source: Lambda quotas, "Environment variables".
 */
export const MAX_PATHS_BYTES = 2_048;

const path = text(
  /^\/(?:[!-z|]|\{shop_id\}){0,3999}$/,
  'a path of at most 4,000 ASCII characters that begins with / and has no braces but {shop_id}',
);
const cloudFront = z.strictObject({
  distributionId: text(/^E[A-Z0-9]{7,}$/, "a distribution's id, like E1ABCDEF2GHIJK").describe('Its id.'),
  paths: z
    .array(path)
    .min(1)
    // The length is in bytes, because the paths are ASCII.
    .refine((paths) => JSON.stringify(paths).length <= MAX_PATHS_BYTES, {
      error: `must have at most ${MAX_PATHS_BYTES} bytes as JSON, because Lambda limits environment variables to 4 KB`,
    })
    .describe(
      `Paths to invalidate. {shop_id} stands for the id. CloudFront takes only 15 paths with * at a time. At most ${MAX_PATHS_BYTES} bytes as JSON.`,
    ),
});

/** Environment variables share 4 KB. These take 1 KB, the receiver's others up to 3 KB. Source: as above. */
const MAX_IGNORED_EVENTS = 16;

const ignoredEvent = text(
  /^[!-~]{1,64}$/,
  'the name of an event in at most 64 ASCII characters without white space',
).refine(
  (name) => !isEventName(name),
  'must not be an event that this version processes. To stop one, use npx hookctl pause',
);
const ignoredEvents = z
  .array(ignoredEvent)
  .max(MAX_IGNORED_EVENTS, `must have at most ${MAX_IGNORED_EVENTS} events`);

const archive = z.strictObject({
  days: prefault(wholeNumber('days', 0, 3_650), 30).describe(
    `Days that records are kept. Replays reach back at most ${REPLAYABLE_DAYS}. 0: off. On a live stage, this loses records not yet written, and no command reads the retained bucket again.`,
  ),
});

const RETENTION_DAYS = Object.values(RetentionDays).filter(
  (days): days is RetentionDays => typeof days === 'number' && days !== RetentionDays.INFINITE,
);
const retention = z.literal(
  RETENTION_DAYS,
  `must be a number of days that CloudWatch Logs supports: ${RETENTION_DAYS.join(', ')}`,
);

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
      .refine((arn) => account === undefined || arn.split(':')[4] === account, {
        error: `must be of the stage's account, ${account}`,
      })
      .refine((arn) => region === undefined || arn.split(':')[3] === region, {
        error: `must be of the stage's region, ${region}`,
      });

/** A rule about several fields. It is checked, and its error shown, even if other fields are wrong. */
const across = (field: string, error: string) => ({ path: [field], error, when: () => true });

/** Every field of a stage, with its default and effect. Other fields are rejected. */
export function configSchema(target: DeploymentTarget = {}) {
  const arn = arnIn(target);
  const secret = arn('secretsmanager', 'secret:\\S+-\\w{6}', 'secret:partner-AbCdEf');
  const key = arn('kms', 'key/\\S+', 'key/…');
  const certificate = arn('acm', 'certificate/\\S+', 'certificate/…');
  const mutualTls = z.strictObject({
    bucket: text(/^[a-z0-9.-]{3,63}$/, 'the name of an S3 bucket').describe('S3 bucket of the trust store.'),
    key: text(/^[^/\s]\S*$/, 'the key of an object, without a slash before it').describe(
      'Its key: a PEM file.',
    ),
    // API Gateway reads the trust store again only if its version changes. Source: `MutualTlsAuthentication`.
    version: text(/./, 'the version id of the object, so that a new trust store takes effect').describe(
      'Its version id. A new trust store takes effect only with its new version.',
    ),
  });
  const domain = z
    .strictObject({
      name: text(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name like webhooks.example.com').describe('Its name.'),
      certificateArn: certificate.describe('ARN of its ACM certificate, in the same region.'),
      keepDefaultEndpoint: prefault(z.boolean(), false).describe(
        'The default endpoint stays on while the partner moves.',
      ),
      ownershipCertificateArn: optional(certificate).describe(
        'ARN of a public certificate for the name. mutualTls needs it if certificateArn is imported or private.',
      ),
      mutualTls: optional(mutualTls).describe('Every caller needs a client certificate (deploying.md).'),
    })
    .refine((one) => !(one.mutualTls && one.keepDefaultEndpoint), {
      path: ['keepDefaultEndpoint'],
      error: 'cannot be true with mutualTls, because the default endpoint asks for no client certificate',
    })
    // Required by `CreateDomainName`. Source: API Gateway API reference, `ownershipVerificationCertificateArn`.
    .refine((one) => one.mutualTls || one.ownershipCertificateArn === undefined, {
      path: ['ownershipCertificateArn'],
      error: 'needs mutualTls: set that too, or remove this field',
    });
  const encryption = z.strictObject({
    keyArn: optional(key).describe(
      'ARN of an existing key, with the policy in security.md. Default: a new key.',
    ),
  });

  return z
    .strictObject({
      account: optional(text(/^\d{12}$/, '12 digits')).describe(
        'A deployment to another account fails. Default: that of the credentials.',
      ),
      region: optional(
        z.enum(REGIONS, 'must be a region that aws-cdk-lib knows, like eu-central-1'),
      ).describe('A deployment to another region fails. Default: that of the credentials.'),

      removalPolicy: prefault(z.enum(['retain', 'destroy']), 'retain').describe(
        'retain: CloudFormation refuses to delete the stack, and DynamoDB a table. Data, secret, key and logs outlive the stack. destroy: they are deleted with it.',
      ),
      deployment: prefault(z.enum(['canary', 'all-at-once']), 'canary').describe(
        'canary: a new receiver gets 10 % of the traffic for five minutes. An alarm rolls it back. Or all-at-once.',
      ),

      secretArn: optional(secret).describe('Complete ARN of an existing secret. Default: a new secret.'),
      secretKmsKeyArn: optional(key).describe(
        'ARN of the key of that secret. Default: Secrets Manager’s own.',
      ),

      domain: optional(domain).describe('Your own host name. It turns off the default endpoint.'),
      gateway: prefault(z.enum(['http', 'rest']), 'http').describe(
        'Kind of API: http or rest (deploying.md).',
      ),
      waf: optional(waf).describe('AWS WAF, with gateway: rest. Blocked requests get 500.'),
      apiThrottle: prefault(apiThrottle, {}).describe(
        'Above it, an HTTP API answers 429, which the partner may not repeat (D16), and a REST API 500.',
      ),

      receiver: prefault(receiver, {}).describe('The function that receives deliveries.'),
      events: prefault(z.strictObject(events), {}).describe('Settings of each event’s consumer.'),
      ignoredEvents: prefault(ignoredEvents, []).describe(
        `Unknown kinds, such as menu.updated, that get 200 \`ignored\` and are not stored. They are lost. At most ${MAX_IGNORED_EVENTS}.`,
      ),
      cloudFront: optional(cloudFront).describe('CloudFront distribution to invalidate when a shop changes.'),

      alarmEmails: prefault(emails, []).describe('Addresses that get every alarm.'),
      reviewEmails: prefault(emails, []).describe('Addresses that get every review.'),
      chat: prefault(chat, {}).describe('Channels for chat notifications (deploying.md).'),
      // The URL becomes part of the template, which must be ASCII, and of the descriptions of alarms, which have at most
      // 1,024 characters. Source: CloudWatch API reference, `PutMetricAlarm`.
      runbook: prefault(
        text(/^[!-~]{1,150}$/, 'a URL of at most 150 ASCII characters: percent-encode all others'),
        'docs/operations.md',
      ).describe('URL of the published operations.md, for links in alarms.'),
      // CloudWatch evaluates at most a week. Source: CloudWatch user guide, "Evaluating an alarm", for periods of an hour
      // or more.
      quietAfter: optional(wholeNumber('hours', 1, 168)).describe(
        'An alarm fires if no event was accepted for this many hours.',
      ),
      lagAfter: prefault(wholeNumber('minutes', 0, 7 * 24 * 60), 60).describe(
        'An alarm fires if the median event of an hour arrives this many minutes after its timestamp. 0: off.',
      ),
      acknowledgedWarnings: prefault(z.record(z.string(), text(/\S/, 'the reason, as text')), {}).describe(
        'Reasons that silence warnings of cdk synth, by the name that the warning shows.',
      ),
      encryption: optional(encryption).describe(
        'One key of yours for tables, queues, buckets, logs, topics and secret. Default: AWS’ own keys, and a key of the stack for the topics.',
      ),
      archive: prefault(archive, {}).describe('Records of settled messages in S3.'),
      tracing: prefault(z.boolean(), false).describe(
        'X-Ray traces one delivery a second and 5 % of the others. Price: scale-and-cost.md.',
      ),
      logRetentionDays: prefault(retention, 30).describe('Days that logs are kept, such as 7, 30 or 90.'),
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

/**
 * The configuration of a stage: the given fields, and defaults for all others.
 * @param given value of the context `stages.<stage>`
 * @param credentials account and region of the credentials of this synthesis, if known
 * @throws Error naming every unknown or wrong field
 */
export function parseConfig(stage: string, given: unknown, credentials: DeploymentTarget = {}): StageConfig {
  const own = z.looseObject({ account: optional(z.string()), region: optional(z.string()) }).safeParse(given);
  const schema = configSchema({ ...credentials, ...own.data });
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
