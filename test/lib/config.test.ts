import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import * as z from 'zod';
import { stages } from '../../bin/stages.ts';
import { certificateLink } from '../../lib/alarms/console-links.ts';
import { configSchema, parseConfig, warningIds } from '../../lib/config.ts';
import { warn } from '../../lib/warnings.ts';

const everySetting = JSON.parse(readFileSync('bin/every-setting.json', 'utf8'));
const secretArn = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:partner-AbCdEf';
const home = { account: '111122223333', region: 'eu-central-1' };

/** Copies of the settings. In each, another field of an object has the given value. */
function withEachField(settings: object, value: unknown): object[] {
  return Object.entries(settings).flatMap(([field, given]) => {
    const deeper = typeof given === 'object' ? withEachField(given, value) : [];
    return [value, ...deeper].map((one) => ({ ...settings, [field]: one }));
  });
}

/** The lines of the error message if a configuration is rejected. */
function refusals(given: unknown, credentials = {}): string[] {
  try {
    parseConfig('prod', given, credentials);
    return [];
  } catch (error) {
    const [first, ...lines] = (error as Error).message.split('\n  ');
    expect(first).toBe("Stage 'prod' has an invalid configuration. Correct these fields:");
    return lines;
  }
}

describe('a stage without fields', () => {
  test('keeps its data, deploys step by step and has the defaults', () => {
    const { events, ...config } = parseConfig('prod', {});
    expect(config).toEqual({
      removalPolicy: 'retain',
      terminationProtection: true,
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
      archive: { days: 30 },
      tracing: false,
      logRetentionDays: 30,
    });
    expect(events['shop.updated']).toEqual({
      batchSize: 10,
      maximumConcurrency: 20,
      memory: 512,
      timeout: 30,
    });
  });
});

test('every documented setting is in every-setting.json, or in the stage with its own key', () => {
  const { properties } = z.toJSONSchema(configSchema(), { io: 'input' });
  const set = Object.keys({ ...everySetting, ...stages.encrypted });
  expect(set.sort()).toEqual(Object.keys(properties ?? {}).sort());
});

test('every documented setting is accepted', () => {
  expect(parseConfig('prod', everySetting, home)).toMatchObject(everySetting);
});

/** A path of CloudFront that takes so many bytes as JSON. */
const pathOf = (bytes: number) => ({
  cloudFront: { distributionId: 'E1ABCDEF2GHIJK', paths: [`/${'x'.repeat(bytes - '["/"]'.length)}`] },
});

test('paths of CloudFront are accepted up to 2,048 bytes', () => {
  expect(parseConfig('prod', pathOf(2_048))).toMatchObject(pathOf(2_048));
});

describe('is refused', () => {
  test('with all its errors at once, each with its field', () => {
    expect(
      refusals(
        {
          colour: 'red',
          secretArn: 'arn:aws:secretsmanager:us-east-1:999999999999:secret:partner-AbCdEf',
          domain: { name: 'webhooks.example.com' },
          events: { 'shop.updated': { batchSize: 11, memmory: 1 }, 'example.unknown': {} },
          waf: {},
          quietAfter: 0,
          logRetentionDays: 2,
          encryption: { keyArn: 'arn:aws:kms:us-east-1:111122223333:key/0a1b' },
        },
        home,
      ).sort(),
    ).toEqual([
      'colour: is not a known field',
      'domain.certificateArn: is missing',
      `encryption.keyArn: must be of the stage's region, eu-central-1 (it is "arn:aws:kms:us-east-1:111122223333:key/0a1b")`,
      'events.example.unknown: is not a known field',
      'events.shop.updated.batchSize: must be a whole number of messages from 1 to 10 (it is 11)',
      'events.shop.updated.memmory: is not a known field. Did you mean memory?',
      expect.stringMatching(
        /^logRetentionDays: must be a number of days that CloudWatch Logs supports: 1, 3, .* \(it is 2\)$/,
      ),
      'quietAfter: must be a whole number of hours from 1 to 168 (it is 0)',
      "secretArn: must be of the stage's account, 111122223333",
      "secretArn: must be of the stage's region, eu-central-1",
      'waf: needs gateway: rest, because AWS WAF does not work with an HTTP API',
    ]);
  });

  test('with a suggestion for a misspelled field, event or warning', () => {
    expect(
      refusals({
        archive: { day: 3 },
        events: { 'shop.updatd': {} },
        acknowledgedWarnings: { 'no-chat-chanel': 'none is needed' },
        quiteAfter: 3,
      }).sort(),
    ).toEqual([
      'acknowledgedWarnings.no-chat-chanel: is not a known field. Did you mean no-chat-channel?',
      'archive.day: is not a known field. Did you mean days?',
      'events.shop.updatd: is not a known field. Did you mean shop.updated?',
      'quiteAfter: is not a known field. Did you mean quietAfter?',
    ]);
  });

  test('in our own words for any value of a wrong type', () => {
    const values = ['', 5, null, true, [], [5], { other: 1 }];
    const problems = values.flatMap((value) =>
      withEachField(everySetting, value).flatMap((given) => refusals(given)),
    );
    const ours = /^\S+: (must |cannot |is |needs )/;
    expect(problems.filter((problem) => !ours.test(problem))).toEqual([]);
    expect(problems).toEqual(
      expect.arrayContaining([
        'account: must be a string (it is 5)',
        'alarmEmails: must be a list (it is 5)',
        'archive: must be an object (it is 5)',
        'cloudFront.paths: must not be empty',
        'deployment: must be one of canary, all-at-once (it is 5)',
        'terminationProtection: must be true or false (it is 5)',
      ]),
    );
  });

  test.each(['secretArn', 'secretKmsKeyArn'])(
    'a wrong %s without showing it, as it may be the secret itself',
    (field) => {
      expect(refusals({ [field]: 'hunter2' }).join()).toContain(`${field}: must be an ARN`);
      expect(refusals({ [field]: 'hunter2' }).join()).not.toContain('hunter2');
    },
  );

  test('with the beginning of a long value', () => {
    expect(refusals({ region: 'x'.repeat(1_000) })).toEqual([
      `region: must be a region that aws-cdk-lib knows, like eu-central-1 (it is "${'x'.repeat(79)}…)`,
    ]);
  });

  const arn = (service: string, resource: string, account = home.account) =>
    `arn:aws:${service}:${home.region}:${account}:${resource}`;

  test.each<{ field: string; given: object }>([
    {
      field: 'encryption.keyArn',
      given: { encryption: { keyArn: arn('kms', 'key/0a1b2c3d', '444455556666') } },
    },
    { field: 'encryption.keyArn', given: { encryption: { keyArn: arn('kms', 'alias/x') } } },
    // An ARN without the six characters that Secrets Manager adds.
    { field: 'secretArn', given: { secretArn: secretArn.slice(0, -7) } },
    // A key without a secret.
    { field: 'secretKmsKeyArn', given: { secretKmsKeyArn: arn('kms', 'key/0a1b') } },
    {
      field: 'domain.certificateArn',
      given: {
        domain: {
          name: 'a.example.com',
          certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/0a1b2c3d',
        },
      },
    },
    {
      field: 'domain.mutualTls.key',
      given: {
        domain: {
          ...everySetting.domain,
          mutualTls: { ...everySetting.domain.mutualTls, key: '/partner.pem' },
        },
      },
    },
    {
      field: 'domain.mutualTls.version',
      given: { domain: { ...everySetting.domain, mutualTls: { bucket: 'store', key: 'partner.pem' } } },
    },
    // Clients could bypass the check of their certificates.
    {
      field: 'domain.keepDefaultEndpoint',
      given: { domain: { ...everySetting.domain, keepDefaultEndpoint: true } },
    },
    // Only mutual TLS uses this certificate.
    {
      field: 'domain.ownershipCertificateArn',
      given: { domain: { ...everySetting.domain, mutualTls: undefined } },
    },
    // The concurrency must be above `maximumConcurrency`, which is 20 by default.
    {
      field: 'events.shop.updated.reservedConcurrency',
      given: { events: { 'shop.updated': { reservedConcurrency: 20 } } },
    },
    // A timeout as long as API Gateway waits.
    { field: 'receiver.timeout', given: { receiver: { timeout: 29 } } },
    { field: 'alarmEmails.1', given: { alarmEmails: ['night@example.com', 'nobody'] } },
    { field: 'reviewEmails', given: { reviewEmails: ['a@example.com', 'a@example.com'] } },
    {
      field: 'cloudFront.distributionId',
      given: { cloudFront: { distributionId: 'd1.cloudfront.net', paths: ['/'] } },
    },
    {
      field: 'cloudFront.paths.0',
      given: { cloudFront: { distributionId: 'E1ABCDEF2GHIJK', paths: ['/{shop}'] } },
    },
    // More bytes than the environment of a Lambda function holds.
    { field: 'cloudFront.paths', given: pathOf(2_049) },
    { field: 'runbook', given: { runbook: 'https://wiki.example.com/日本語' } },
    // An acknowledgement without a reason.
    {
      field: 'acknowledgedWarnings.no-chat-channel',
      given: { acknowledgedWarnings: { 'no-chat-channel': ' ' } },
    },
    { field: 'waf.managedLists.0', given: { gateway: 'rest', waf: { managedLists: ['OwnRules'] } } },
    {
      field: 'waf.managedLists',
      given: { gateway: 'rest', waf: { managedLists: Array(2).fill('AWSManagedRulesCommonRuleSet') } },
    },
  ])('$field of $given', ({ field, given }) => {
    expect(refusals(given, home)).toEqual([expect.stringMatching(`^${field.replaceAll('.', '\\.')}: `)]);
  });

  test.each<{ given: object; refusal: string }>([
    {
      given: { account: 111122223333 },
      refusal: 'account: must be a string (it is 111122223333). Write "111122223333"',
    },
    { given: { waf: true, gateway: 'rest' }, refusal: 'waf: must be an object (it is true). Write {}' },
    { given: { encryption: true }, refusal: 'encryption: must be an object (it is true). Write {}' },
    {
      given: { encryption: false },
      refusal: 'encryption: must be an object (it is false). Remove the field',
    },
    {
      given: { domain: true },
      refusal: 'domain: must be an object (it is true). It needs name and certificateArn',
    },
    {
      given: { alarmEmails: 'night@example.com' },
      refusal: 'alarmEmails: must be a list (it is "night@example.com"). Write ["night@example.com"]',
    },
    {
      given: { quietAfter: '3' },
      refusal: 'quietAfter: must be a whole number of hours from 1 to 168 (it is "3"). Write 3',
    },
    { given: { tracing: 'true' }, refusal: 'tracing: must be true or false (it is "true"). Write true' },
    {
      given: { gateway: 'restt' },
      refusal: 'gateway: must be one of http, rest (it is "restt"). Did you mean rest?',
    },
    {
      given: { events: { 'shop.updated': { batchSize: '5' } } },
      refusal:
        'events.shop.updated.batchSize: must be a whole number of messages from 1 to 10 (it is "5"). Write 5',
    },
    ...['eu-central', 'EU-CENTRAL-1', 'eu-central-9'].map((region) => ({
      given: { region },
      refusal: `region: must be a region that aws-cdk-lib knows, like eu-central-1 (it is "${region}"). Did you mean eu-central-1?`,
    })),
  ])('with what to write instead: $given', ({ given, refusal }) => {
    expect(refusals(given)).toEqual([refusal]);
  });

  test.each([null, 7, 'text', []])('a stage that is %j', (given) => {
    expect(refusals(given)).toHaveLength(1);
  });
});

test.each(['us-gov-west-1', 'cn-north-1', 'eusc-de-east-1'])('the region %s is taken', (region) => {
  expect(parseConfig('prod', { region }).region).toBe(region);
});

describe('the account of a stage', () => {
  test('has precedence over that of the credentials', () => {
    expect(refusals({ account: '444455556666', secretArn }, home)).toEqual([
      "secretArn: must be of the stage's account, 444455556666",
    ]);
  });

  test('is not checked without credentials', () => {
    expect(parseConfig('prod', { secretArn }).secretArn).toBe(secretArn);
  });
});

/** The ids of the warnings for a stage with these fields. */
function warningsOf(fields: object): string[] {
  const stack = new Stack(new App(), 'Test');
  warn(stack, parseConfig('test', fields));
  return stack.node.metadata
    .filter(({ type }) => type === 'aws:cdk:warning')
    .map(({ data }) => /\[ack: partner-webhooks:([\w-]+)\]$/.exec(String(data))?.[1] ?? '')
    .sort();
}

/** The ids of all warnings but these. */
const others = (...ids: string[]) => warningIds.filter((one) => !ids.includes(one)).toSorted();

test('a stage without settings gets warnings for everything that is missing', () => {
  expect(warningsOf({})).toEqual(others('wildcard-invalidations'));
});

test('a stage gets a warning about paths with * to invalidate, unless it says why', () => {
  const cloudFront = (path: string) => ({ cloudFront: { distributionId: 'E1ABCDEF2GHIJK', paths: [path] } });
  const ofWildcards = (given: object) =>
    warningsOf(given).filter((id) => id === 'wildcard-invalidations').length;
  const acknowledgedWarnings = { 'wildcard-invalidations': 'a dozen shops' };
  expect(ofWildcards(cloudFront('/shops/{shop_id}'))).toBe(0);
  expect(ofWildcards(cloudFront('/shops/{shop_id}/*'))).toBe(1);
  expect(ofWildcards({ ...cloudFront('/shops/{shop_id}/*'), acknowledgedWarnings })).toBe(0);
});

test('a disposable stage gets no warnings', () => {
  expect(warningsOf({ removalPolicy: 'destroy' })).toEqual([]);
});

describe('a stage gets no warning', () => {
  test.each([
    { id: 'no-alarm-recipient', given: { alarmEmails: ['night@example.com'] } },
    {
      id: 'no-chat-channel',
      given: { chat: { slack: { workspaceId: 'T0123ABCD', channelId: 'C0123ABCD' } } },
    },
    { id: 'no-chat-channel', given: { chat: everySetting.chat } },
    { id: 'no-review-recipient', given: { reviewEmails: ['reviews@example.com'] } },
    { id: 'refusals-are-lost', given: { gateway: 'rest' } },
    { id: 'no-quiet-after', given: { quietAfter: 3 } },
    { id: 'no-quiet-after', given: { events: { 'shop.updated': { quietAfter: 3 } } } },
    { id: 'relative-runbook', given: { runbook: 'https://wiki.example.com/operations' } },
  ])('about $id if it has $given', ({ id, given }) => {
    expect(warningsOf(given)).toEqual(others(id, 'wildcard-invalidations'));
  });

  test('about forged requests or lost refusals if the receiver has reserved concurrency', () => {
    const fields = { receiver: { reservedConcurrency: 200 } };
    expect(warningsOf(fields)).toEqual(
      others('no-reserved-concurrency', 'refusals-are-lost', 'wildcard-invalidations'),
    );
  });
});

describe('a link to the console', () => {
  test.each([
    { region: 'eu-central-1', host: 'console.aws.amazon.com' },
    { region: 'cn-north-1', host: 'console.amazonaws.cn' },
    { region: 'us-gov-west-1', host: 'console.amazonaws-us-gov.com' },
    { region: 'eusc-de-east-1', host: 'console.amazonaws-eusc.eu' },
  ])('for $region points to $host', ({ region, host }) => {
    const arn = `arn:aws:acm:${region}:111122223333:certificate/0a1b-2c`;
    expect(
      certificateLink(new Stack(new App(), 'Test', { env: { account: '111122223333', region } }), arn),
    ).toBe(`Certificate: https://${region}.${host}/acm/home?region=${region}#/certificates/0a1b-2c`);
  });
});
