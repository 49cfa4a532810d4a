import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../aws/endpoint.ts';
import { arnOf } from '../../aws/services.ts';
import { settingsOf, startEndpoint } from './support.ts';

let endpoint: AwsEndpoint;
let secrets: SecretsManagerClient;
let count = 0;
let Name: string;
let ARN: string;
/** Id of the secret's version `first`. */
let first: string;

beforeAll(async () => {
  endpoint = await startEndpoint();
  secrets = new SecretsManagerClient(settingsOf(endpoint));
});
beforeEach(async () => {
  count += 1;
  Name = `webhook/secret-${count}`;
  const create = new CreateSecretCommand({ Name, SecretString: 'first' });
  ({ ARN = '', VersionId: first = '' } = await secrets.send(create));
});
afterAll(() => endpoint.close());

const get = (rest: object = {}) => secrets.send(new GetSecretValueCommand({ SecretId: Name, ...rest }));
const put = (SecretString: string, rest: object = {}) =>
  secrets.send(new PutSecretValueCommand({ SecretId: Name, SecretString, ...rest }));
const previous = { VersionStage: 'AWSPREVIOUS' };

test('a secret has an ARN with a suffix of six characters, and is found by ARN, partial ARN and name', async () => {
  expect(ARN).toMatch(new RegExp(`^${arnOf('secretsmanager', 'secret')}:${Name}-[A-Za-z0-9]{6}$`));
  for (const SecretId of [Name, ARN, ARN.slice(0, -7)]) {
    expect(await get({ SecretId })).toMatchObject({ SecretString: 'first' });
  }
  const described = await secrets.send(new DescribeSecretCommand({ SecretId: Name }));
  expect(described).toMatchObject({ ARN, VersionIdsToStages: { [first]: ['AWSCURRENT'] } });
});

describe('refused is', () => {
  const create = (secret: { Name: string; SecretString?: string }) =>
    secrets.send(new CreateSecretCommand(secret));
  const binary = { SecretBinary: Buffer.of(1) };
  const empty = async () => {
    await create({ Name: 'empty' });
    await get({ SecretId: 'empty' });
  };
  test.each<[what: string, call: () => Promise<unknown>, name: string]>([
    [
      'a second secret of the same name',
      () => create({ Name, SecretString: 'x' }),
      'ResourceExistsException',
    ],
    ['the value of a secret without one', empty, 'ResourceNotFoundException'],
    [
      'a binary value',
      () => secrets.send(new PutSecretValueCommand({ ...binary, SecretId: Name })),
      'InvalidParameterException',
    ],
    ['another label', () => put('x', { VersionStages: ['AWSPENDING'] }), 'InvalidParameterException'],
    [
      'a deletion with a recovery window',
      () => secrets.send(new DeleteSecretCommand({ SecretId: Name })),
      'InvalidParameterException',
    ],
  ])('%s', async (_what, call, name) => {
    await expect(call()).rejects.toMatchObject({ name });
  });
});

describe('a rotation', () => {
  test('makes the new value current and the old one previous', async () => {
    const second = await put('second');
    expect(second.VersionStages).toEqual(['AWSCURRENT']);
    const current = await get();
    expect(current).toMatchObject({ SecretString: 'second', VersionId: second.VersionId });
    // Decision D12 depends on the age of a version, which is computed from this date.
    expect(Math.abs((current.CreatedDate?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(await get(previous)).toMatchObject({ SecretString: 'first', VersionId: first });
    expect(await get({ VersionId: first })).toMatchObject({ SecretString: 'first' });
  });

  test('with the token of an earlier call does nothing', async () => {
    const token = { ClientRequestToken: '0123456789abcdef0123456789abcdef' };
    const once = await put('second', token);
    expect((await put('second', token)).VersionId).toBe(once.VersionId);
    expect(await get(previous)).toMatchObject({ SecretString: 'first' });
    await expect(put('other', token)).rejects.toMatchObject({ name: 'ResourceExistsException' });
  });
});
