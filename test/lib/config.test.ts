import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import * as z from 'zod';
import { stages } from '../../bin/stages.ts';
import { configSchema, parseConfig } from '../../lib/config.ts';
import { readContext } from '../../lib/context.ts';
import { warn, warnings } from '../../lib/warnings.ts';

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

test.each([pathOf(2_048), { secretArn }, { region: 'us-gov-west-1' }])(
  'is accepted without credentials: %#',
  (given) => {
    expect(parseConfig('prod', given)).toMatchObject(given);
  },
);

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
        'tracing: must be true or false (it is 5)',
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

  const arn = (service: string, resource: string, account = home.account) =>
    `arn:aws:${service}:${home.region}:${account}:${resource}`;

  const { domain } = everySetting;
  test.each<[field: string, given: object]>([
    ['encryption.keyArn', { encryption: { keyArn: arn('kms', 'key/0a1b2c3d', '444455556666') } }],
    // An ARN without the six characters that Secrets Manager adds.
    ['secretArn', { secretArn: secretArn.slice(0, -7) }],
    // A key without a secret.
    ['secretKmsKeyArn', { secretKmsKeyArn: arn('kms', 'key/0a1b') }],
    ['domain.mutualTls.version', { domain: { ...domain, mutualTls: { bucket: 'store', key: 'a.pem' } } }],
    // Clients could bypass the check of their certificates.
    ['domain.keepDefaultEndpoint', { domain: { ...domain, keepDefaultEndpoint: true } }],
    // Only mutual TLS uses this certificate.
    ['domain.ownershipCertificateArn', { domain: { ...domain, mutualTls: undefined } }],
    // We process this event.
    ['ignoredEvents.0', { ignoredEvents: ['shop.updated'] }],
    ['alarmEmails.1', { alarmEmails: ['night@example.com', 'nobody'] }],
    ['cloudFront.paths.0', { cloudFront: { distributionId: 'E1ABCDEF2GHIJK', paths: ['/{shop}'] } }],
    // More bytes than the environment of a Lambda function holds.
    ['cloudFront.paths', pathOf(2_049)],
    // An acknowledgement without a reason.
    ['acknowledgedWarnings.no-chat-channel', { acknowledgedWarnings: { 'no-chat-channel': ' ' } }],
  ])('%s of %j', (field, given) => {
    expect(refusals(given, home)).toEqual([expect.stringMatching(`^${field.replaceAll('.', '\\.')}: `)]);
  });

  test.each<[given: object, refusal: string]>([
    [{ account: 111122223333 }, 'account: must be a string (it is 111122223333). Write "111122223333"'],
    [{ waf: true, gateway: 'rest' }, 'waf: must be an object (it is true). Write {}'],
    [{ domain: true }, 'domain: must be an object (it is true). It needs name and certificateArn'],
    [
      { alarmEmails: 'night@example.com' },
      'alarmEmails: must be a list (it is "night@example.com"). Write ["night@example.com"]',
    ],
    [{ quietAfter: '3' }, 'quietAfter: must be a whole number of hours from 1 to 168 (it is "3"). Write 3'],
    [{ gateway: 'restt' }, 'gateway: must be one of http, rest (it is "restt"). Did you mean rest?'],
  ])('with what to write instead: %j', (given, refusal) => {
    expect(refusals(given)).toEqual([refusal]);
  });
});

test('the account of a stage has precedence over that of the credentials', () => {
  expect(refusals({ account: '444455556666', secretArn }, home)).toEqual([
    "secretArn: must be of the stage's account, 444455556666",
  ]);
});

function annotations(kind: 'warning' | 'error', fields: object): string[] {
  const stack = new Stack(new App(), 'Test');
  warn(stack, parseConfig('test', fields));
  return stack.node.metadata.filter(({ type }) => type === `aws:cdk:${kind}`).map(({ data }) => String(data));
}

/** The ids of the warnings for a stage with these fields. */
const warningsOf = (fields: object) =>
  annotations('warning', fields)
    .map((text) => /\[ack: partner-webhooks:([\w-]+)\]$/.exec(text)?.[1] ?? '')
    .sort();

/** The ids of all warnings but these. */
const others = (...ids: string[]) =>
  Object.keys(warnings)
    .filter((one) => !ids.includes(one))
    .toSorted();

test('a stage without settings gets warnings for everything that is missing, and a disposable one none', () => {
  expect(warningsOf({})).toEqual(others('wildcard-invalidations'));
  expect(warningsOf({ removalPolicy: 'destroy' })).toEqual([]);
});

test.each<[given: object, ...ids: string[]]>([
  [{ alarmEmails: ['night@example.com'] }, 'no-alarm-recipient'],
  [{ chat: { slack: everySetting.chat.slack } }, 'no-chat-channel'],
  [{ reviewEmails: ['reviews@example.com'] }, 'no-review-recipient'],
  [{ gateway: 'rest' }, 'refusals-are-lost'],
  [{ quietAfter: 3 }, 'no-quiet-after'],
  [{ runbook: 'https://wiki.example.com/operations' }, 'relative-runbook'],
  [{ receiver: { reservedConcurrency: 200 } }, 'no-reserved-concurrency', 'refusals-are-lost'],
])('a stage with %j gets no warning about that', (given, ...ids) => {
  expect(warningsOf(given)).toEqual(others(...ids, 'wildcard-invalidations'));
});

test('a reason for a warning that does not exist is an error', () => {
  const acknowledgedWarnings = { 'no-chat-chanel': 'Nobody reads it.', 'no-quiet-after': 'A trial.' };
  expect(annotations('error', { acknowledgedWarnings })).toEqual([
    'acknowledgedWarnings.no-chat-chanel: no warning has this name. Did you mean no-chat-channel?',
  ]);
});

describe('the context', () => {
  const stages = {
    dev: {},
    prod: {
      gateway: 'rest',
      encryption: {},
      alarmEmails: ['night@example.com', 'day@example.com'],
      events: { 'shop.updated': { batchSize: 5 } },
    },
  };
  /** A context as the CDK reads it from `cdk.json` and `-c`. */
  const read = (context: object) => readContext({ stages, stage: 'prod', ...context });

  test.each<[settings: object, changed: object]>([
    [{ logRetentionDays: 90 }, { logRetentionDays: 90 }],
    [
      { events: { 'shop.updated': { timeout: 60 } } },
      { events: { 'shop.updated': { batchSize: 5, timeout: 60 } } },
    ],
    [{ events: null }, { events: undefined }],
  ])('the context `settings` is merged over the stage: %j', (settings, changed) => {
    expect(read({ settings: JSON.stringify(settings) }).given).toEqual({ ...stages.prod, ...changed });
    expect(read({ settings }).given).toEqual({ ...stages.prod, ...changed });
  });

  test('the context `settings` that is broken is refused with the place', () => {
    expect(() => read({ settings: '{"a":1,}' })).toThrow(
      /^The context `settings` is not JSON: .*position 7.* Put it in single quotes: -c settings='\{"logRetentionDays":90\}'$/,
    );
    for (const settings of ['[]', '7', '"prod"']) {
      expect(() => read({ settings })).toThrow('The context `settings` must be a JSON object, such as -c');
    }
  });

  test('`stages` on the command line is refused, because it would drop the settings of cdk.json', () => {
    expect(() => read({ stages: '{"prod":{"logRetentionDays":90}}' })).toThrow(
      /^-c stages=… would replace the stages of cdk.json .* use -c settings=/,
    );
  });

  test.each(['a_b', 'Prod', 'x'.repeat(33)])(
    'the stage %s, whose name cannot end a stack’s, is refused',
    (stage) => {
      expect(() => read({ stages: { [stage]: {} }, stage })).toThrow(
        `The stage name '${stage}' is invalid. Use up to 32 small letters, digits and hyphens`,
      );
    },
  );

  test.each(['constructor', undefined])('the stage %s is refused, naming the stages that exist', (stage) => {
    expect(() => read({ stage })).toThrow(`No stage '${stage}'. Use -c stage=NAME with one of: dev, prod`);
  });

  test('any other key that looks misspelled is refused: another stage would be deployed', () => {
    expect(() => read({ stagee: 'prod' })).toThrow("Unknown context 'stagee'. Did you mean stage?");
  });

  test.each([
    ['gateway', 'rest', '{"gateway":"rest"}'],
    ['archive.days', '3', '{"archive":{…}}'],
  ])('any other key that is a setting is refused, with the place to set it: %s', (key, value, example) => {
    expect(() => read({ [key]: value })).toThrow(
      `The context '${key}' is not read: ${key.split('.')[0]} is a setting of a stage. Set it in cdk.json, below the stage. For one command, use -c settings='${example}'`,
    );
  });
});
