import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  MAX_AGE,
  REFRESH_INTERVAL,
  WebhookSecrets,
  type WebhookSecretsOptions,
} from '../../../lambda/receiver/webhook-secrets.ts';
import { Faults } from '../../../local/aws/faults.ts';
import { startTestAws, type TestAws } from '../../support/test-aws.ts';

const GRACE_PERIOD = 60 * 60_000;

const faults = new Faults();
let aws: TestAws;
beforeAll(async () => {
  aws = await startTestAws(faults);
});
afterEach(() => faults.clear());
afterAll(() => aws.close());

/** A secret, the cache under test with a clock that can be put forward, and what it did. */
let secretId: string;
let operator: SecretsManagerClient;
let options: WebhookSecretsOptions;
let secrets: WebhookSecrets;
let ahead: number;
let calls: number;
let stale: unknown[];
let unreadable: number;
let whiteSpace: number;
beforeEach(async () => {
  operator = new SecretsManagerClient(aws.operator);
  secretId = `secret-${expect.getState().currentTestName}`.replace(/[^\w-]/g, '-').slice(0, 200);
  await operator.send(new CreateSecretCommand({ Name: secretId, SecretString: 'first' }));
  ahead = 0;
  calls = 0;
  stale = [];
  unreadable = 0;
  whiteSpace = 0;
  const client = new SecretsManagerClient({ ...aws.operator, maxAttempts: 1 });
  client.middlewareStack.add((next) => async (args) => {
    calls += 1;
    return next(args);
  });
  options = {
    client,
    secretId,
    gracePeriod: GRACE_PERIOD,
    onUnreadable: async () => {
      unreadable += 1;
    },
    onStale: async (error) => void stale.push(error),
    onWhiteSpace: () => {
      whiteSpace += 1;
    },
    now: () => Date.now() + ahead,
  };
  secrets = new WebhookSecrets(options);
});

const rotate = (SecretString: string) =>
  operator.send(new PutSecretValueCommand({ SecretId: secretId, SecretString }));
/** Refuses the second of each two reads: the one of the previous version, where both are read. */
const throttlePrevious = () =>
  faults.inject({
    service: 'secretsmanager',
    operation: 'GetSecretValue',
    kind: 'throttled',
    every: 2,
    callers: 'everyone',
  });
const breakIt = () =>
  operator.send(new DeleteSecretCommand({ SecretId: secretId, ForceDeleteWithoutRecovery: true }));

describe('caching', () => {
  test('one read serves many requests', async () => {
    for (let request = 0; request < 100; request += 1) expect(await secrets.accepted()).toEqual(['first']);
    const afterFirst = calls;
    ahead = MAX_AGE - 1000;
    await secrets.accepted();
    expect(calls).toBe(afterFirst);
  });

  test('a secret that was last rotated long ago takes one call', async () => {
    ahead = GRACE_PERIOD + 1000;
    await secrets.accepted();
    expect(calls).toBe(1);
  });

  test('an old secret is read again', async () => {
    await secrets.accepted();
    await rotate('second');
    ahead = MAX_AGE;
    expect(await secrets.accepted()).toContain('second');
  });
});

describe('a rotation', () => {
  test('works at once: a mismatch reads the secret again', async () => {
    expect(await secrets.accepted()).toEqual(['first']);
    await rotate('second');
    expect(await secrets.accepted()).toEqual(['first']);
    expect(await secrets.afterMismatch()).toEqual(['second', 'first']);
  });

  test('leaves the previous secret valid for the grace period, and no longer', async () => {
    await rotate('second');
    expect(await secrets.accepted()).toEqual(['second', 'first']);
    ahead = GRACE_PERIOD - 60_000;
    expect(await secrets.accepted()).toEqual(['second', 'first']);
    ahead = GRACE_PERIOD + 1000;
    expect(await secrets.accepted()).toEqual(['second']);
  });

  test('done once more, by storing the previous value twice, begins the grace period anew', async () => {
    const gracePeriod = 2000;
    const another = () => new WebhookSecrets({ ...options, gracePeriod });
    await rotate('second');
    await sleep(gracePeriod + 100);
    expect(await another().accepted()).toEqual(['second']);
    for (const value of ['first', 'second']) await rotate(value);
    expect(await another().accepted()).toEqual(['second', 'first']);
  });

  test('seen by age alone leaves the previous secret valid, too', async () => {
    await secrets.accepted();
    await rotate('second');
    ahead = MAX_AGE;
    expect(await secrets.accepted()).toEqual(['second', 'first']);
  });

  test('just after a read by age is seen by the next mismatch', async () => {
    await secrets.accepted();
    ahead = MAX_AGE;
    await secrets.accepted();
    await rotate('second');
    expect(await secrets.afterMismatch()).toEqual(['second', 'first']);
  });

  test('whose previous value is unusable leaves the new one alone', async () => {
    await rotate('');
    await rotate('third');
    expect(await secrets.accepted()).toEqual(['third']);
  });
});

describe('a signature', () => {
  const fits = (secret: string) => secrets.matchesAny((accepted) => accepted.includes(secret));

  test('that does not fit has the secret read again, however fresh it is', async () => {
    expect(await fits('first')).toBe(true);
    await rotate('second');
    expect(await fits('second')).toBe(true);
  });

  test('that has the secret read for the first time does not have it read twice', async () => {
    expect(await fits('wrong')).toBe(false);
    const once = calls;
    expect(await fits('wrong')).toBe(false);
    expect(calls).toBe(2 * once);
  });
});

test('a flood of bad signatures cannot drive calls: one read in 30 s', async () => {
  await secrets.accepted();
  const before = calls;
  await secrets.afterMismatch();
  const perRead = calls - before;
  for (let request = 0; request < 500; request += 1) expect(await secrets.afterMismatch()).toBeUndefined();
  expect(calls - before).toBe(perRead);
  ahead += REFRESH_INTERVAL;
  expect(await secrets.afterMismatch()).toEqual(['first']);
  expect(calls - before).toBe(2 * perRead);
});

describe('while Secrets Manager fails', () => {
  test('a cached secret goes on serving, and the failure is told once in 30 s', async () => {
    await secrets.accepted();
    await breakIt();
    ahead = MAX_AGE;
    for (let request = 0; request < 10; request += 1) expect(await secrets.accepted()).toEqual(['first']);
    expect(await secrets.afterMismatch()).toBeUndefined();
    expect(stale).toHaveLength(1);
    expect(unreadable).toBe(1);
  });

  test('with none cached the error is thrown, and not kept: the next request reads again', async () => {
    await breakIt();
    await expect(secrets.accepted()).rejects.toThrow(
      expect.objectContaining({ name: 'ResourceNotFoundException' }),
    );
    expect(unreadable).toBe(1);
    await operator.send(new CreateSecretCommand({ Name: secretId, SecretString: 'again' }));
    expect(await secrets.accepted()).toEqual(['again']);
    expect({ unreadable, stale }).toEqual({ unreadable: 1, stale: [] });
  });

  test('a rotation to an unusable secret leaves the cached one', async () => {
    await secrets.accepted();
    await rotate('{"SECRET":"x"}');
    expect(await secrets.afterMismatch()).toBeUndefined();
    expect(await secrets.accepted()).toEqual(['first']);
    expect(stale).toEqual([expect.objectContaining({ name: 'UnusableSecretError' })]);
    expect(unreadable).toBe(1);
  });
});

describe('while the previous secret alone cannot be read', () => {
  test('nothing is cached of a first read: the error is thrown, and the next request has both', async () => {
    await rotate('second');
    const end = throttlePrevious();
    await expect(secrets.accepted()).rejects.toThrow(
      expect.objectContaining({ name: 'ThrottlingException' }),
    );
    end();
    expect(await secrets.accepted()).toEqual(['second', 'first']);
  });

  test('the cached one goes on serving in the grace period, however old it is', async () => {
    await rotate('second');
    await secrets.accepted();
    const end = throttlePrevious();
    ahead = MAX_AGE;
    expect(await secrets.accepted()).toEqual(['second', 'first']);
    expect({ unreadable, stale }).toEqual({
      unreadable: 1,
      stale: [expect.objectContaining({ name: 'ThrottlingException' })],
    });
    end();
    ahead += REFRESH_INTERVAL;
    expect(await secrets.accepted()).toEqual(['second', 'first']);
  });

  test('a rotation is not seen by half: the secret before it stays valid, and the next read sees both', async () => {
    await secrets.accepted();
    await rotate('second');
    const end = throttlePrevious();
    expect(await secrets.afterMismatch()).toBeUndefined();
    expect(await secrets.accepted()).toEqual(['first']);
    end();
    ahead = REFRESH_INTERVAL;
    expect(await secrets.afterMismatch()).toEqual(['second', 'first']);
  });
});

test('a secret without white space around it is not warned of', async () => {
  await rotate('two words');
  await secrets.accepted();
  expect(whiteSpace).toBe(0);
});

test('white space around the secret is used as it is and warned of once', async () => {
  await rotate('second\n');
  expect(await secrets.accepted()).toEqual(['second\n', 'first']);
  ahead = MAX_AGE;
  await secrets.accepted();
  expect(whiteSpace).toBe(1);
});
