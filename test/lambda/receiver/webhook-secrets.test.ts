import {
  type GetSecretValueCommand,
  type GetSecretValueResponse,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  SECRET_FIRST_READ_INTERVAL,
  SECRET_MAX_AGE,
  SECRET_REFRESH_INTERVAL,
} from '../../../lambda/limits.ts';
import { readSecretValue } from '../../../lambda/receiver/secret-value.ts';
import { type SecretReports, WebhookSecrets } from '../../../lambda/receiver/webhook-secrets.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GRACE_PERIOD = 24 * HOUR;

const notFound = new ResourceNotFoundException({ message: 'No.', $metadata: {} });

/** A fake of Secrets Manager, with a clock that tests control. */
class FakeSecret {
  now = Date.parse('2026-01-31T09:00:00Z');
  calls: string[] = [];
  aborted = 0;
  failing: Record<string, Error> = {};
  #versions: GetSecretValueResponse[] = [];

  rotate(SecretString: string | undefined): void {
    this.#versions.unshift({ SecretString, CreatedDate: new Date(this.now) });
  }

  async send({ input }: GetSecretValueCommand, { abortSignal }: { abortSignal?: AbortSignal } = {}) {
    expect(input.SecretId).toBe('secret-arn');
    const stage = String(input.VersionStage);
    this.calls.push(stage);
    await Promise.resolve();
    if (abortSignal?.aborted) {
      this.aborted += 1;
      throw abortSignal.reason;
    }
    const version = this.#versions[stage === 'AWSCURRENT' ? 0 : 1];
    const failure = this.failing[stage] ?? (version === undefined ? notFound : undefined);
    if (failure !== undefined) throw failure;
    return version;
  }
}

let secret: FakeSecret;
let secrets: WebhookSecrets;
let reported: unknown[];
const reports: SecretReports = {
  unreadable: () => reported.push('unreadable'),
  stale: (error) => reported.push(error),
  doubt: (doubt) => reported.push(doubt),
};
beforeEach(() => {
  secret = new FakeSecret();
  secret.rotate('first');
  reported = [];
  secrets = new WebhookSecrets({
    client: secret as unknown as SecretsManagerClient,
    secretId: 'secret-arn',
  });
  jest.spyOn(Date, 'now').mockImplementation(() => secret.now);
});

/** The calls since the last check. */
const calls = () => secret.calls.splice(0);
const BOTH = ['AWSCURRENT', 'AWSPREVIOUS'];

test('a cached secret serves until it is five minutes old, and is then read again', async () => {
  expect(await secrets.accepted(reports)).toEqual(['first']);
  expect(calls()).toEqual(BOTH);
  secret.rotate('second');
  secret.now += SECRET_MAX_AGE - 1;
  expect(await secrets.accepted(reports)).toEqual(['first']);
  expect(calls()).toEqual([]);
  secret.now += 1;
  expect(await secrets.accepted(reports)).toEqual(['second', 'first']);
  expect(calls()).toEqual(BOTH);
});

describe('a rotation', () => {
  test('keeps the previous secret valid for 24 hours, and no longer, without a call for it', async () => {
    secret.rotate('second');
    secret.now += GRACE_PERIOD - 1;
    expect(await secrets.accepted(reports)).toEqual(['second', 'first']);
    expect(calls()).toEqual(BOTH);
    secret.now += 1;
    expect(await secrets.accepted(reports)).toEqual(['second']);
    secret.now += SECRET_MAX_AGE;
    expect(await secrets.accepted(reports)).toEqual(['second']);
    expect(calls()).toEqual(['AWSCURRENT']);
  });

  test('repeated by storing the previous value twice restarts the 24 hours', async () => {
    secret.rotate('second');
    secret.now += GRACE_PERIOD;
    expect(await secrets.accepted(reports)).toEqual(['second']);
    for (const value of ['first', 'second']) secret.rotate(value);
    expect(await secrets.afterMismatch(reports)).toEqual(['second', 'first']);
  });

  test('whose previous value is unusable keeps the new one', async () => {
    secret.rotate('');
    secret.rotate('third');
    expect(await secrets.accepted(reports)).toEqual(['third']);
  });
});

test('a signature that does not match causes a new read, unless this call has just read', async () => {
  const fits = (key: string) => secrets.matchesAny((accepted) => accepted.includes(key), reports);
  expect(await fits('wrong')).toBe(false);
  expect(calls()).toEqual(BOTH);
  secret.rotate('second');
  expect(await fits('second')).toBe(true);
  expect(calls()).toEqual(BOTH);
  expect(await fits('wrong')).toBe(false);
  expect(calls()).toEqual([]);
});

test('a flood of bad signatures causes at most one read in 30 s', async () => {
  await secrets.accepted(reports);
  expect(await secrets.afterMismatch(reports)).toEqual(['first']);
  calls();
  secret.now += SECRET_REFRESH_INTERVAL - 1;
  for (let request = 0; request < 5; request += 1)
    expect(await secrets.afterMismatch(reports)).toBeUndefined();
  expect(calls()).toEqual([]);
  secret.now += 1;
  expect(await secrets.afterMismatch(reports)).toEqual(['first']);
  expect(calls()).toEqual(BOTH);
});

describe('while Secrets Manager fails', () => {
  const down = new Error('down');

  test('a cached secret still serves, and the failure is reported once in 30 s', async () => {
    await secrets.accepted(reports);
    secret.failing.AWSCURRENT = down;
    secret.now += SECRET_MAX_AGE;
    for (let request = 0; request < 3; request += 1)
      expect(await secrets.accepted(reports)).toEqual(['first']);
    expect(await secrets.afterMismatch(reports)).toBeUndefined();
    expect(reported).toEqual(['unreadable', down]);
    secret.now += SECRET_REFRESH_INTERVAL;
    expect(await secrets.accepted(reports)).toEqual(['first']);
    expect(reported).toEqual(['unreadable', down, 'unreadable', down]);
  });

  test('with none cached, the error is thrown; a flood of requests causes one read in a second', async () => {
    secret.failing.AWSCURRENT = down;
    for (let request = 0; request < 1000; request += 1)
      await expect(secrets.accepted(reports)).rejects.toBe(down);
    secret.now += SECRET_FIRST_READ_INTERVAL - 1;
    await expect(secrets.accepted(reports)).rejects.toBe(down);
    expect(calls()).toEqual(['AWSCURRENT']);
    expect(reported).toEqual(['unreadable']);
    secret.failing = {};
    secret.now += 1;
    expect(await secrets.accepted(reports)).toEqual(['first']);
  });

  test('a rotation to an unusable secret keeps the cached one', async () => {
    await secrets.accepted(reports);
    secret.rotate('{"SECRET":"x"}');
    expect(await secrets.afterMismatch(reports)).toBeUndefined();
    expect(await secrets.accepted(reports)).toEqual(['first']);
    expect(reported).toEqual(['unreadable', expect.objectContaining({ name: 'UnusableSecretError' })]);
  });
});

describe('if only the previous secret cannot be read', () => {
  const down = new Error('down');

  test('a first read caches nothing: the error is thrown, and the next read gets both', async () => {
    secret.rotate('second');
    secret.failing.AWSPREVIOUS = down;
    await expect(secrets.accepted(reports)).rejects.toBe(down);
    secret.failing = {};
    secret.now += SECRET_FIRST_READ_INTERVAL;
    expect(await secrets.accepted(reports)).toEqual(['second', 'first']);
  });

  test('the cached one serves during the 24 hours, however old it is', async () => {
    secret.rotate('second');
    await secrets.accepted(reports);
    secret.failing.AWSPREVIOUS = down;
    secret.now += SECRET_MAX_AGE;
    expect(await secrets.accepted(reports)).toEqual(['second', 'first']);
    expect(reported).toEqual(['unreadable', down]);
  });

  test('a rotation is not half applied: the secret before it stays valid, and the next read gets both', async () => {
    await secrets.accepted(reports);
    secret.rotate('second');
    secret.failing.AWSPREVIOUS = down;
    expect(await secrets.afterMismatch(reports)).toBeUndefined();
    expect(await secrets.accepted(reports)).toEqual(['first']);
    secret.failing = {};
    secret.now += SECRET_REFRESH_INTERVAL;
    expect(await secrets.afterMismatch(reports)).toEqual(['second', 'first']);
  });
});

test('a warm-up that is aborted ends both calls, and neither reports nor caches anything', async () => {
  await expect(secrets.warmUp(AbortSignal.abort())).rejects.toThrow('aborted');
  expect(secret.aborted).toBe(2);
  expect(reported).toEqual([]);
  calls();
  expect(await secrets.accepted(reports)).toEqual(['first']);
  expect(calls()).toEqual(BOTH);
});

test.each([
  ['white space', 'second\n'],
  ['JSON', '{WEBHOOK_SECRET:s3cret}'],
  ['JSON', "'s3cret'"],
  ['JSON', '{"WEBHOOK_SECRET":"s3cret"'],
  ['JSON', '"{\\"WEBHOOK_SECRET\\":\\"s3cret\\"}"'],
  ['JSON', 'WEBHOOK_SECRET=s3cret'],
])(
  'a secret that was probably not meant is warned of once when it is used, as %s: %j',
  async (what, value) => {
    secret.rotate(value);
    await secrets.warmUp(new AbortController().signal);
    expect(reported).toEqual([]);
    expect(await secrets.accepted(reports)).toEqual([value, 'first']);
    secret.now += SECRET_MAX_AGE;
    await secrets.accepted(reports);
    expect(reported).toEqual([expect.stringContaining(what)]);
    expect(String(reported)).not.toContain('s3cret');
  },
);

test.each([
  ...['123', '"abc"', '{abc', 'abc\n'].map((bare) => [bare, bare]),
  [' {"OTHER":"x","WEBHOOK_SECRET":"{}"} ', '{}'],
])('the stored value %j contains the secret %j', (stored, expected) => {
  expect(readSecretValue(stored)).toBe(expected);
});

test.each([undefined, '', ' \t\n', '{"SECRET":"abc"}', '{"WEBHOOK_SECRET":" "}', '{"WEBHOOK_SECRET":123}'])(
  'the stored value %j is refused, and not shown',
  (stored) => {
    expect(() => readSecretValue(stored)).toThrow(expect.objectContaining({ name: 'UnusableSecretError' }));
    expect(() => readSecretValue(stored)).not.toThrow(/abc|123/);
  },
);
