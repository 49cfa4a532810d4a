import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as z from 'zod';
import { type EventName, eventNames } from '../lambda/events/catalogue.ts';
import { didYouMean } from './nearest.ts';
import { warningIds } from './warning-ids.ts';

/** Days that CloudWatch Logs can keep a log. Source: `PutRetentionPolicy` in its API reference. */
const RETENTION_DAYS = Object.values(RetentionDays).filter(
  (days): days is number => typeof days === 'number' && days !== RetentionDays.INFINITE,
);

const whole = (minimum: number, maximum: number, unit: string) => {
  const [from, to] = [minimum, maximum].map((limit) => limit.toLocaleString('en'));
  const error = `must be a whole number of ${unit} from ${from} to ${to}`;
  return z.int(error).min(minimum, error).max(maximum, error);
};
const text = (pattern: RegExp, shape: string) =>
  z.string().regex(pattern, { error: `must be ${shape}`, abort: true });

const emails = z
  .array(z.email('must be an e-mail address'))
  .refine((all) => new Set(all).size === all.length, { error: 'names an address twice' });

/** Megabytes; processor time comes with them. Source: Lambda quotas, "Memory allocation". */
const memory = whole(128, 10_240, 'MB').default(512).describe('Memory in MB, 128 to 10,240.');

/** Source: Lambda quotas; an account has 1,000 unless it was raised. */
const reservedConcurrency = whole(1, 1_000_000, 'executions')
  .optional()
  .describe(
    'Executions at a time that are kept for this function and that it never exceeds; each is worth ten invocations a second at most. Of the account’s, Lambda keeps 100 unreserved. Default: none.',
  );

/**
 * Hours of silence that one alarm can look back on: a week. Source: CloudWatch user guide, "Evaluating an
 * alarm", of periods of an hour and above.
 */
const quietAfter = (what: string) =>
  whole(1, 168, 'hours')
    .optional()
    .describe(`Hours, 1 to 168, after which an alarm rings because ${what}. Default: never.`);

/** Minutes: a week. */
const LONGEST_LAG = 10_080;

/**
 * Settings of one event. Sources: Lambda developer guide, "Using Lambda with Amazon SQS" (batch size without a
 * window, maximum concurrency of a source) and Lambda quotas (time-out). A time-out below 15 s would leave a
 * batch no time: the consumer keeps 9 s of it to archive and for what it has not finished, and a call takes up to 4 s.
 */
const eventSettings = z
  .strictObject({
    batchSize: whole(1, 10, 'messages')
      .default(10)
      .describe('Messages that one invocation gets at most, 1 to 10: more need a batching window.'),
    maximumConcurrency: whole(2, 1_000, 'batches')
      .default(20)
      .describe('Batches processed at a time, 2 to 1,000: a backlog must leave concurrency to the receiver.'),
    memory,
    timeout: whole(15, 900, 'seconds')
      .default(30)
      .describe(
        'Seconds that one batch may take, 15 to 900. The queue hides its messages for six times as long.',
      ),
    reservedConcurrency,
    quietAfter: quietAfter('no event of this kind came to its queue, be it by a redrive or a replay'),
    lagAfter: whole(1, LONGEST_LAG, 'minutes')
      .optional()
      .describe(
        'Minutes, 1 to 10,080, as the stage’s lagAfter, of this event alone: a metric and an alarm more. Default: it counts among all.',
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
    'Workspace, authorised once in the console of Amazon Q Developer in chat applications.',
  ),
  channelId: text(/^[CG][A-Z0-9]{8,}$/, "Slack's id of the channel, like C0123ABCD").describe('Channel.'),
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const teams = z.strictObject({
  tenantId: text(UUID, 'a UUID').describe('Microsoft Entra tenant.'),
  teamId: text(UUID, 'a UUID').describe('Team, authorised once in the same console.'),
  channelId: text(
    /^19(:|%3a)[\w.+-]+(@|%40)thread\.\w+$/i,
    "Teams' id of the channel, like 19:…@thread.tacv2",
  ).describe('Channel.'),
});

/** Such as `eu-central-1`, `us-gov-west-1`, and `eusc-de-east-1` of the European Sovereign Cloud. */
const REGION = /^[a-z]{2,4}(-[a-z]+)+-\d$/;

/** Where a stage is deployed to, as far as it is known. */
interface Target {
  readonly account?: string | undefined;
  readonly region?: string | undefined;
}

/**
 * Rule groups of AWS that can stand before the API. Which of their rules only count: `lib/api/firewall.ts`. Source: AWS
 * WAF developer guide, "AWS Managed Rules rule groups list".
 */
const managedLists = [
  'AWSManagedRulesAmazonIpReputationList',
  'AWSManagedRulesKnownBadInputsRuleSet',
  'AWSManagedRulesCommonRuleSet',
] as const;

/** An ARN as far as every service agrees on it: partition, service, region, account, resource. */
function arnIn({ account, region }: Target) {
  return (service: string, resource: string, example: string) =>
    text(new RegExp(`^arn:aws[\\w-]*:${service}:[a-z0-9-]+:\\d{12}:${resource}$`), `an ARN like ${example}`)
      .refine((value) => account === undefined || value.split(':')[4] === account, {
        error: `must be of the stage's account, ${account}`,
      })
      .refine((value) => region === undefined || value.split(':')[3] === region, {
        error: `must be of the stage's region, ${region}`,
      });
}

const REASON = 'must be a reason';

const SHARE = 'must be a share: a number from 0 to 1';

/** A check that is made, and its problem told, also where other fields are wrong. */
const ALWAYS = () => true;

/** Every field of a stage, with its meaning, unit and default. What is not a field here is refused. */
export function configSchema(target: Target = {}) {
  const arn = arnIn(target);
  const secret = () =>
    arn(
      'secretsmanager',
      'secret:\\S+-\\w{6}',
      'arn:aws:secretsmanager:eu-central-1:111122223333:secret:partner-AbCdEf',
    );
  const key = () => arn('kms', 'key/\\S+', 'arn:aws:kms:eu-central-1:111122223333:key/…');
  const certificate = () =>
    arn('acm', 'certificate/\\S+', 'arn:aws:acm:eu-central-1:111122223333:certificate/…');
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
        .describe('Refuses to delete a table. Default: true where removalPolicy is retain.'),
      deployment: z
        .enum(['canary', 'all-at-once'])
        .default('canary')
        .describe('canary: 10 % of the traffic for five minutes, then all, back on an alarm (CodeDeploy).'),

      secretArn: secret()
        .optional()
        .describe(
          'Existing secret that the partner signs with, by its complete ARN. Default: one is generated.',
        ),
      previousSecretArn: secret()
        .optional()
        .describe(
          'Secret that the deployed version reads, for the deployment that changes secretArn. Default: none.',
        ),
      secretKmsKeyArn: key()
        .optional()
        .describe('Key that the existing secret is encrypted under. Default: Secrets Manager’s own.'),
      previousSecretKmsKeyArn: key()
        .optional()
        .describe('Key that previousSecretArn is encrypted under. Default: Secrets Manager’s own.'),
      rotationGraceHours: whole(0, 168, 'hours')
        .default(24)
        .describe('Hours for which the previous secret is accepted after a rotation, 0 to 168.'),
      kmsKeyArn: key()
        .optional()
        .describe(
          'Existing key for the topics; its policy must admit cloudwatch.amazonaws.com. Default: one is made.',
        ),

      domain: z
        .strictObject({
          name: text(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name like webhooks.example.com').describe(
            'Host name.',
          ),
          certificateArn: certificate().describe('Certificate for it in ACM, of the same region.'),
          keepDefaultEndpoint: z
            .boolean()
            .default(false)
            .describe('Leaves the default endpoint on, until the partner has moved to the host name.'),
          ownershipCertificateArn: certificate()
            .optional()
            .describe(
              'Public certificate for the same name, which mutualTls needs besides an imported or private one. Default: none.',
            ),
          mutualTls: z
            .strictObject({
              bucket: text(/^[a-z0-9.-]{3,63}$/, 'the name of an S3 bucket').describe(
                'Bucket of the trust store.',
              ),
              key: text(/^[^/\s]\S*$/, 'the key of an object, without a slash before it').describe(
                'Object in it: the PEM file of the authorities.',
              ),
              version: z.string().min(1).optional().describe('Version of the object. Default: the newest.'),
            })
            .optional()
            .describe('Demands a client certificate of a caller. Default: none is asked for.'),
        })
        .refine(({ mutualTls, keepDefaultEndpoint }) => !(mutualTls && keepDefaultEndpoint), {
          path: ['keepDefaultEndpoint'],
          error: 'cannot be true with mutualTls: it would lead round the client certificates',
        })
        // Source: API Gateway API reference, `ownershipVerificationCertificateArn` of `CreateDomainName`.
        .refine(
          ({ mutualTls, ownershipCertificateArn }) => mutualTls || ownershipCertificateArn === undefined,
          {
            path: ['ownershipCertificateArn'],
            error: 'is for mutualTls alone: give mutualTls, too, or leave it out',
          },
        )
        .optional()
        .describe('Own host name; the API’s default endpoint is then off. Default: the default endpoint.'),
      gateway: z
        .enum(['http', 'rest'])
        .default('http')
        .describe(
          'http: an HTTP API. rest: a REST API, whose own failures become 500, which the partner repeats; dearer.',
        ),
      waf: z
        .strictObject({
          requestsPerAddress: whole(10, 2_000_000_000, 'requests')
            .default(100_000)
            .describe('Requests that one address may make in five minutes.'),
          managedLists: z
            .array(z.enum(managedLists), { error: `must be a list of ${managedLists.join(', ')}` })
            .refine((all) => new Set(all).size === all.length, { error: 'names a list twice' })
            .default(['AWSManagedRulesAmazonIpReputationList'])
            .describe(
              `AWS’ managed lists: ${managedLists.join(', ')}. Their rules on bodies and User-Agent only count (security.md).`,
            ),
        })
        .optional()
        .describe('AWS WAF before a REST API. What it blocks is answered 500. Default: none.'),
      apiThrottle: z
        .strictObject({
          rate: whole(1, 1_000_000, 'requests a second').default(10_000).describe('Requests a second.'),
          burst: whole(1, 1_000_000, 'requests').default(5_000).describe('Requests at once.'),
        })
        .prefault({})
        .describe(
          'Above it an HTTP API answers 429, which the partner is not promised to repeat (D16), a REST API 500.',
        ),

      receiver: z
        .strictObject({
          memory,
          timeout: whole(20, 29, 'seconds')
            .default(28)
            .describe(
              'Seconds, 20 to 29: above what its AWS calls take at their worst, below API Gateway’s 30.',
            ),
          reservedConcurrency,
        })
        .prefault({})
        .describe('The receiver.'),
      events: z
        .strictObject(
          Object.fromEntries(
            eventNames.map((event) => [
              event,
              eventSettings.prefault({}).describe('The consumer of the event.'),
            ]),
          ) as Record<EventName, z.ZodPrefault<typeof eventSettings>>,
        )
        .prefault({})
        .describe('The consumer of each event, by the event’s name.'),
      cloudFront: z
        .strictObject({
          distributionId: text(/^E[A-Z0-9]{7,}$/, 'the id of a distribution, like E1ABCDEF2GHIJK').describe(
            'Distribution.',
          ),
          paths: z
            .array(
              text(
                /^\/(?:[!-z|]|\{shop_id\}){0,3999}$/,
                'a path of at most 4,000 ASCII characters that begins with / and has no braces but {shop_id}',
              ),
            )
            .min(1)
            .describe('Paths to invalidate; {shop_id} stands for the shop.'),
        })
        .optional()
        .describe('Distribution to invalidate besides the shop cache. Default: none.'),

      alarmEmails: emails.default([]).describe('Addresses that every alarm is mailed to.'),
      reviewEmails: emails.default([]).describe('Addresses that every review is mailed to.'),
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
        .describe('Where operations.md is published: the links in the alarms begin with it.'),
      quietAfter: quietAfter('nothing was accepted, of any kind'),
      lagAfter: whole(0, LONGEST_LAG, 'minutes')
        .default(60)
        .describe(
          'Minutes from the partner’s timestamp to the receipt, of half of the deliveries of an hour, of all events together, at which an alarm rings; 0 for none.',
        ),
      acknowledgedWarnings: z
        .partialRecord(
          z.enum(warningIds),
          z.string(REASON).refine((reason) => reason.trim() !== '', REASON),
        )
        .default({})
        .describe(
          `Why this stage may lack what the synthesis warns of, by the warning: ${warningIds.join(', ')}.`,
        ),
      encryption: z
        .strictObject({
          keyArn: key()
            .optional()
            .describe('Existing key; what its policy must admit is in security.md. Default: one is made.'),
        })
        .optional()
        .describe(
          'A key of one’s own for all that holds personal data: tables, queues, bucket, logs, topics, secret. Default: AWS’ own keys, and kmsKeyArn for the topics.',
        ),
      archive: z
        .strictObject({
          days: whole(0, 3_650, 'days')
            .default(30)
            .describe(
              'Days that a record is kept, 0 to 3,650; 0 for no archive. A replay reaches back 60 at most. Setting 0 on a live stage deletes the delivery streams with the records that they have not yet written, and the database and workgroup of Athena with its saved queries. With removalPolicy: retain the bucket stays, its records expire as before, and no command finds it again: a later archive gets another bucket.',
            ),
          bufferSeconds: whole(60, 900, 'seconds')
            .default(900)
            .describe(
              'Seconds, 60 to 900, that Firehose collects records for an object: how late one can be read, against what objects cost.',
            ),
          queryGigabytes: whole(1, 1_000, 'gigabytes')
            .default(10)
            .describe(
              'Gigabytes, 1 to 1,000, of compressed records that a query in Athena may read before it is ended.',
            ),
        })
        .prefault({})
        .describe('What became of each message, for replays, questions and proof: Firehose into S3.'),
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
          'Has X-Ray follow deliveries, also through the queues: nearly all where few come, at a price (scale-and-cost.md).',
        ),
      sampling: z
        .strictObject({
          rate: z
            .number(SHARE)
            .min(0, SHARE)
            .max(1, SHARE)
            .default(0.05)
            .describe('Share, 0 to 1, of the deliveries beyond the reservoir.'),
          reservoir: whole(0, 100, 'deliveries a second')
            .default(0)
            .describe('Deliveries of each second, 0 to 100, that are followed first.'),
        })
        .optional()
        .describe(
          'What tracing follows behind a REST API. Default: as behind an HTTP API, one of each second and 5 % of the others, which AWS does not let anybody change.',
        ),
      platformLogs: z
        .boolean()
        .default(false)
        .describe(
          'Has Lambda log the start and the report of each invocation, with its memory and how long a start took. What failed it logs at any rate.',
        ),
      logRetentionDays: z
        .literal(
          RETENTION_DAYS,
          `must be a number of days that CloudWatch Logs knows: ${RETENTION_DAYS.join(', ')}`,
        )
        .default(RetentionDays.ONE_MONTH)
        .describe('Days that logs are kept.'),
    })
    .refine((stage) => stage?.secretKmsKeyArn === undefined || stage.secretArn !== undefined, {
      path: ['secretKmsKeyArn'],
      error: 'is the key of an existing secret: give its secretArn, too',
      when: ALWAYS,
    })
    .refine(
      (stage) => stage?.previousSecretKmsKeyArn === undefined || stage.previousSecretArn !== undefined,
      {
        path: ['previousSecretKmsKeyArn'],
        error: 'is the key of a previous secret: give its previousSecretArn, too',
        when: ALWAYS,
      },
    )
    .refine((stage) => stage?.waf === undefined || stage.gateway === 'rest', {
      path: ['waf'],
      error: 'needs gateway: rest, as AWS WAF does not work with an HTTP API',
      when: ALWAYS,
    })
    .refine((stage) => stage?.sampling === undefined || (stage.tracing && stage.gateway === 'rest'), {
      path: ['sampling'],
      error:
        'needs tracing: true and gateway: rest, as it is API Gateway that keeps to it, and an HTTP API does not trace',
      when: ALWAYS,
    })
    .refine((stage) => !(stage?.gateway === 'rest' && stage.receiver?.timeout === 29), {
      path: ['receiver', 'timeout'],
      error: 'must be at most 28 seconds with gateway: rest, which waits for 29 seconds',
      when: ALWAYS,
    })
    .refine((stage) => stage?.kmsKeyArn === undefined || stage.encryption === undefined, {
      path: ['kmsKeyArn'],
      error: 'is the key of the topics alone, and encryption has one for everything: give one of the two',
      when: ALWAYS,
    })
    .refine((stage) => !(stage?.deletionProtection && stage.removalPolicy === 'destroy'), {
      path: ['deletionProtection'],
      error: 'cannot be true where removalPolicy is destroy: the stack could not be deleted',
      when: ALWAYS,
    });
}

/** The configuration of a stage, complete and checked. */
export type StageConfig = z.output<ReturnType<typeof configSchema>> & {
  readonly deletionProtection: boolean;
};

export type EventSettings = z.output<typeof eventSettings>;

/**
 * The configuration of a stage: the fields given for it, and defaults for all others.
 * @param given value of the context `stages.<stage>`
 * @param credentials account and region that the credentials of this synthesis belong to, where they are known
 * @throws Error naming every field that is unknown or wrong
 */
export function parseConfig(stage: string, given: unknown, credentials: Target = {}): StageConfig {
  const stated = z
    .looseObject({ account: z.string().optional(), region: z.string().optional() })
    .safeParse(given);
  const schema = configSchema({ ...credentials, ...stated.data });
  const parsed = schema.safeParse(given, { error: problemText });
  const problems = parsed.error?.issues.flatMap((issue) => describeIssue(schema, issue)) ?? [];
  if (stated.data?.sampling !== undefined && stage.length > LONGEST_SAMPLED_STAGE) {
    problems.push(
      `sampling: needs a stage with a name of at most ${LONGEST_SAMPLED_STAGE} characters: X-Ray takes no longer one`,
    );
  }
  if (!parsed.success || problems.length > 0) {
    const lines = problems.map((problem) => `\n  ${problem}`);
    throw new Error(`The configuration of stage '${stage}' cannot be used:${lines.join('')}`);
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

/**
 * Characters of a stage's name that fit into the 64 of a sampling rule's `ServiceName`, which is the stack's name and `/*`.
 * Source: X-Ray API reference, "SamplingRule".
 */
const LONGEST_SAMPLED_STAGE = 64 - `${stackNameOf('')}/*`.length;

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
