import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { configSchema, findStage, parseConfig } from '../../lib/config.ts';
import { stages } from '../../tools/generate/stages.ts';

const everySetting = JSON.parse(readFileSync('tools/generate/every-setting.json', 'utf8'));
const secretArn = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:partner-AbCdEf';
const home = { account: '111122223333', region: 'eu-central-1' };

/** The same settings, once for each field of each object, which has another value then. */
function withEachField(settings: object, value: unknown): object[] {
  return Object.entries(settings).flatMap(([field, given]) => {
    const deeper = typeof given === 'object' ? withEachField(given, value) : [];
    return [value, ...deeper].map((one) => ({ ...settings, [field]: one }));
  });
}

/** The lines of the message with which a configuration is refused, if it is. */
function problemsOf(given: unknown): string[] {
  try {
    parseConfig('prod', given);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n  ').slice(1);
  }
}

/** The lines of the message with which a configuration is refused. */
function refusals(given: unknown, credentials = {}): string[] {
  try {
    parseConfig('prod', given, credentials);
  } catch (error) {
    const [first, ...lines] = (error as Error).message.split('\n  ');
    expect(first).toBe("The configuration of stage 'prod' cannot be used:");
    return lines;
  }
  throw new Error('The configuration was not refused');
}

describe('a stage without fields', () => {
  test('keeps its data, deploys step by step and has what the code says', () => {
    const { events, ...config } = parseConfig('prod', {});
    expect(config).toEqual({
      removalPolicy: 'retain',
      terminationProtection: true,
      deletionProtection: true,
      deployment: 'canary',
      rotationGraceHours: 24,
      gateway: 'http',
      apiThrottle: { rate: 10_000, burst: 5_000 },
      receiver: { memory: 512, timeout: 28 },
      alarmEmails: [],
      reviewEmails: [],
      chat: {},
      runbook: 'docs/operations.md',
      lagAfter: 60,
      acknowledgedWarnings: {},
      archive: { days: 30, bufferSeconds: 900, queryGigabytes: 10 },
      savedQueries: true,
      tracing: false,
      platformLogs: false,
      logRetentionDays: 30,
    });
    expect(events['shop.updated']).toEqual({
      batchSize: 10,
      maximumConcurrency: 20,
      memory: 512,
      timeout: 30,
    });
  });

  test('protects no table that its stack should take with it', () => {
    expect(parseConfig('dev', { removalPolicy: 'destroy' }).deletionProtection).toBe(false);
  });
});

test('every setting that is documented is set in every-setting.json, or in the stage with a key for everything', () => {
  const { properties } = z.toJSONSchema(configSchema(), { io: 'input' });
  const set = Object.keys({ ...everySetting, ...stages.encrypted });
  expect(set.sort()).toEqual(Object.keys(properties ?? {}).sort());
});

test('every setting that is documented is taken', () => {
  expect(parseConfig('prod', everySetting, home)).toMatchObject(everySetting);
});

describe('is refused', () => {
  test('whatever is wrong, all at once, each with its field', () => {
    expect(
      refusals(
        {
          colour: 'red',
          secretArn: 'arn:aws:secretsmanager:us-east-1:999999999999:secret:partner-AbCdEf',
          domain: { name: 'webhooks.example.com' },
          events: { 'shop.updated': { batchSize: 11, memmory: 1 }, 'example.unknown': {} },
          removalPolicy: 'destroy',
          deletionProtection: true,
          waf: {},
          quietAfter: 0,
          encryption: { keyArn: 'arn:aws:kms:us-east-1:111122223333:key/0a1b' },
        },
        home,
      ).sort(),
    ).toEqual([
      'colour: is no field',
      'deletionProtection: cannot be true where removalPolicy is destroy: the stack could not be deleted',
      'domain.certificateArn: is missing',
      "encryption.keyArn: must be of the stage's region, eu-central-1",
      'events.example.unknown: is no field',
      'events.shop.updated.batchSize: must be a whole number of messages from 1 to 10',
      'events.shop.updated.memmory: is no field. Did you mean memory?',
      'quietAfter: must be a whole number of hours from 1 to 168',
      "secretArn: must be of the stage's account, 111122223333",
      "secretArn: must be of the stage's region, eu-central-1",
      'waf: needs gateway: rest, as AWS WAF does not work with an HTTP API',
    ]);
  });

  test('a field, an event or a warning that is nearly right, with the one that may be meant', () => {
    expect(
      refusals({
        archive: { day: 3 },
        events: { 'shop.updatd': {} },
        acknowledgedWarnings: { 'no-chat-chanel': 'none is needed' },
        quiteAfter: 3,
      }).sort(),
    ).toEqual([
      'acknowledgedWarnings.no-chat-chanel: is no field. Did you mean no-chat-channel?',
      'archive.day: is no field. Did you mean days?',
      'events.shop.updatd: is no field. Did you mean shop.updated?',
      'quiteAfter: is no field. Did you mean quietAfter?',
    ]);
  });

  test('any value of a wrong type, in words of ours', () => {
    const values = ['', 5, null, true, [], [5], { other: 1 }];
    const problems = values.flatMap((value) => withEachField(everySetting, value).flatMap(problemsOf));
    const ours = /^\S+: (must |cannot |is |needs |names )/;
    expect(problems.filter((problem) => !ours.test(problem))).toEqual([]);
    expect(problems).toEqual(
      expect.arrayContaining([
        'account: must be a string',
        'alarmEmails: must be a list',
        'archive: must be an object',
        'cloudFront.paths: must not be empty',
        'deployment: must be one of canary, all-at-once',
        'terminationProtection: must be true or false',
      ]),
    );
  });

  test('a key of another region, in one line beside all else that is wrong', () => {
    const keyArn = 'arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d-0000-4000-8000-000000000008';
    expect(refusals({ encryption: { keyArn }, logRetentionDays: 2 }, home)).toEqual([
      "encryption.keyArn: must be of the stage's region, eu-central-1",
      expect.stringMatching(/^logRetentionDays: must be a number of days that CloudWatch Logs knows: 1, 3, /),
    ]);
  });

  test.each<[string, object, string]>([
    [
      'a key for everything of another account',
      { encryption: { keyArn: 'arn:aws:kms:eu-central-1:444455556666:key/0a1b2c3d' } },
      'encryption.keyArn',
    ],
    [
      'a key for everything that is an alias',
      { encryption: { keyArn: 'arn:aws:kms:eu-central-1:111122223333:alias/x' } },
      'encryption.keyArn',
    ],
    [
      'a key for the topics beside the one for everything',
      { encryption: {}, kmsKeyArn: everySetting.kmsKeyArn },
      'kmsKeyArn',
    ],
    [
      'a part of a gigabyte as what a query may read',
      { archive: { queryGigabytes: 0.5 } },
      'archive.queryGigabytes',
    ],
    ['a secret that is none', { secretArn: 'partner' }, 'secretArn'],
    [
      'a secret without the six characters that Secrets Manager adds',
      { secretArn: secretArn.slice(0, -7) },
      'secretArn',
    ],
    ['a key that is an alias', { kmsKeyArn: 'arn:aws:kms:eu-central-1:111122223333:alias/x' }, 'kmsKeyArn'],
    ['a domain without certificate', { domain: { name: 'a.example.com' } }, 'domain.certificateArn'],
    [
      'a certificate of another region',
      {
        domain: {
          name: 'a.example.com',
          certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/0a1b2c3d',
        },
      },
      'domain.certificateArn',
    ],
    [
      'a concurrency of one',
      { events: { 'shop.updated': { maximumConcurrency: 1 } } },
      'events.shop.updated.maximumConcurrency',
    ],
    [
      'a concurrency beyond Lambda’s',
      { events: { 'shop.updated': { maximumConcurrency: 1_001 } } },
      'events.shop.updated.maximumConcurrency',
    ],
    [
      'no more reserved than batches at a time',
      { events: { 'shop.updated': { reservedConcurrency: 20 } } },
      'events.shop.updated.reservedConcurrency',
    ],
    [
      'no concurrency for the receiver',
      { receiver: { reservedConcurrency: 0 } },
      'receiver.reservedConcurrency',
    ],
    ['a receiver that outlasts API Gateway', { receiver: { timeout: 30 } }, 'receiver.timeout'],
    ['memory that Lambda does not have', { receiver: { memory: 100 } }, 'receiver.memory'],
    ['days that CloudWatch cannot keep', { logRetentionDays: 31 }, 'logRetentionDays'],
    ['an address that is none', { alarmEmails: ['night@example.com', 'nobody'] }, 'alarmEmails.1'],
    [
      'a channel without workspace',
      { chat: { slack: { channelId: 'C0123ABCD' } } },
      'chat.slack.workspaceId',
    ],
    [
      'a distribution’s address for its id',
      { cloudFront: { distributionId: 'd1.cloudfront.net', paths: ['/'] } },
      'cloudFront.distributionId',
    ],
    [
      'no path to invalidate',
      { cloudFront: { distributionId: 'E1ABCDEF2GHIJK', paths: [] } },
      'cloudFront.paths',
    ],
    [
      'a path that names something else',
      { cloudFront: { distributionId: 'E1ABCDEF2GHIJK', paths: ['/{shop}'] } },
      'cloudFront.paths.0',
    ],
    ['an address that is there twice', { reviewEmails: ['a@example.com', 'a@example.com'] }, 'reviewEmails'],
    [
      'a key of no secret',
      { secretKmsKeyArn: 'arn:aws:kms:eu-central-1:111122223333:key/0a1b' },
      'secretKmsKeyArn',
    ],
    [
      'a trust store with a slash before it',
      { domain: { ...everySetting.domain, mutualTls: { bucket: 'store', key: '/partner.pem' } } },
      'domain.mutualTls.key',
    ],
    [
      'a way round the client certificates',
      { domain: { ...everySetting.domain, keepDefaultEndpoint: true } },
      'domain.keepDefaultEndpoint',
    ],
    [
      'a certificate of ownership that nothing asks for',
      { domain: { ...everySetting.domain, mutualTls: undefined } },
      'domain.ownershipCertificateArn',
    ],
    ['another kind of gateway', { gateway: 'websocket' }, 'gateway'],
    ['a firewall before an HTTP API', { gateway: 'http', waf: {} }, 'waf'],
    [
      'a list that AWS does not have',
      { gateway: 'rest', waf: { managedLists: ['OwnRules'] } },
      'waf.managedLists.0',
    ],
    [
      'a list of AWS WAF that is there twice',
      { gateway: 'rest', waf: { managedLists: Array(2).fill('AWSManagedRulesCommonRuleSet') } },
      'waf.managedLists',
    ],
    [
      'a receiver that outlasts a REST API',
      { gateway: 'rest', receiver: { timeout: 29 } },
      'receiver.timeout',
    ],
    [
      'silence of no time',
      { events: { 'shop.updated': { quietAfter: 0 } } },
      'events.shop.updated.quietAfter',
    ],
    ['silence of more than a week', { quietAfter: 169 }, 'quietAfter'],
    [
      'two keys for the topics',
      { encryption: {}, kmsKeyArn: 'arn:aws:kms:eu-central-1:111122223333:key/0a1b' },
      'kmsKeyArn',
    ],
    ['half a throttle of text', { apiThrottle: { rate: '100' } }, 'apiThrottle.rate'],
  ])('%s', (_, given, field) => {
    expect(refusals(given, home)).toEqual([expect.stringMatching(`^${field.replaceAll('.', '\\.')}: `)]);
  });

  test.each(['eu-central', 'eu_central_1', 'EU-CENTRAL-1', 'eu-central-1a'])('the region %s', (region) => {
    expect(refusals({ region })).toEqual(['region: must be a region like eu-central-1']);
  });

  test.each([null, 7, 'text', []])('a stage that is %j', (given) => {
    expect(refusals(given)).toHaveLength(1);
  });
});

test.each(['eu-central-1', 'us-gov-west-1', 'ap-southeast-7', 'cn-north-1', 'eusc-de-east-1'])(
  'the region %s is taken',
  (region) => {
    expect(parseConfig('prod', { region }).region).toBe(region);
  },
);

describe('the account of a stage', () => {
  test('counts before that of the credentials', () => {
    expect(refusals({ account: '444455556666', secretArn }, home)).toEqual([
      "secretArn: must be of the stage's account, 444455556666",
    ]);
  });

  test('is not judged where nobody knows it', () => {
    expect(parseConfig('prod', { secretArn }).secretArn).toBe(secretArn);
  });
});

describe('the stage', () => {
  const stages = { dev: {}, prod: { logRetentionDays: 90 } };

  test('is found by its name, in an object or in JSON text', () => {
    expect(findStage(stages, 'prod')).toEqual({ logRetentionDays: 90 });
    expect(findStage(JSON.stringify(stages), 'prod')).toEqual({ logRetentionDays: 90 });
  });

  test.each(['a_b', 'x'.repeat(65)])('%s, whose name cannot end a stack’s, is refused', (name) => {
    expect(() => findStage({ [name]: {} }, name)).toThrow(
      `The name of stage '${name}' must be up to 64 letters, digits and hyphens`,
    );
  });

  test.each(['nope', 'constructor', undefined])('%s is refused, naming the stages that exist', (name) => {
    expect(() => findStage(stages, name)).toThrow(
      `No stage '${name}'. Use -c stage=NAME with one of: dev, prod`,
    );
  });

  test.each(['{', '[]', undefined, 7])('is not looked for in %j', (given) => {
    expect(() => findStage(given, 'dev')).toThrow('The context `stages` must be a JSON object');
  });
});
