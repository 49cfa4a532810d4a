import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { arnOf } from '../../aws/service-forms.ts';
import { awsCaller } from '../../aws-caller.ts';
import { startEndpoint } from '../support.ts';

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let count = 0;
let Name: string;
let ARN: string;
/** Id of the secret's version `first`. */
let first: string;

const call = (operation: string, input: object) =>
  awsCaller(endpoint.url, 'operator').json('secretsmanager', operation, input);
const get = (rest: object = {}) => call('GetSecretValue', { SecretId: Name, ...rest });
const put = (SecretString?: string, rest: object = {}) =>
  call('PutSecretValue', { SecretId: Name, SecretString, ...rest });
const previous = { VersionStage: 'AWSPREVIOUS' };

beforeAll(async () => {
  endpoint = await startEndpoint();
});
beforeEach(async () => {
  count += 1;
  Name = `webhook/secret-${count}`;
  const created = await call('CreateSecret', { Name, SecretString: 'first' });
  [ARN, first] = [String(created.ARN), String(created.VersionId)];
});
afterAll(() => endpoint.close());

test('a secret has an ARN with a suffix of six characters, and is found by ARN, partial ARN and name', async () => {
  expect(ARN).toMatch(new RegExp(`^${arnOf('secretsmanager', 'secret')}:${Name}-[A-Za-z0-9]{6}$`));
  for (const SecretId of [Name, ARN, ARN.slice(0, -7)]) {
    expect(await get({ SecretId })).toMatchObject({ SecretString: 'first' });
  }
  const described = await call('DescribeSecret', { SecretId: Name });
  expect(described).toMatchObject({ ARN, VersionIdsToStages: { [first]: ['AWSCURRENT'] } });
});

test.each<[what: string, request: () => Promise<unknown>, name: string]>([
  ['a second secret of the same name', () => call('CreateSecret', { Name }), 'ResourceExistsException'],
  [
    'the value of a secret without one',
    async () => get({ SecretId: (await call('CreateSecret', { Name: 'empty' })).ARN }),
    'ResourceNotFoundException',
  ],
  ['a binary value', () => put(undefined, { SecretBinary: 'AQ==' }), 'InvalidParameterException'],
  ['another label', () => put('x', { VersionStages: ['AWSPENDING'] }), 'InvalidParameterException'],
  [
    'a deletion with a recovery window',
    () => call('DeleteSecret', { SecretId: Name }),
    'InvalidParameterException',
  ],
])('refused is %s', async (_what, request, name) => {
  await expect(request()).rejects.toThrow(name);
});

describe('a rotation', () => {
  test('makes the new value current and the old one previous', async () => {
    const second = await put('second');
    expect(second.VersionStages).toEqual(['AWSCURRENT']);
    const current = await get();
    expect(current).toMatchObject({ SecretString: 'second', VersionId: second.VersionId });
    // Decision D12 depends on the age of a version, which is computed from this date.
    expect(Math.abs(Number(current.CreatedDate) * 1000 - Date.now())).toBeLessThan(60_000);
    expect(await get(previous)).toMatchObject({ SecretString: 'first', VersionId: first });
    expect(await get({ VersionId: first })).toMatchObject({ SecretString: 'first' });
    await put('third');
    expect(await get(previous)).toMatchObject({ SecretString: 'second' });
    expect(await get({ VersionId: first })).toMatchObject({ SecretString: 'first', VersionStages: [] });
  });

  test('with the token of an earlier call does nothing', async () => {
    const token = { ClientRequestToken: '0123456789abcdef0123456789abcdef' };
    const once = await put('second', token);
    expect((await put('second', token)).VersionId).toBe(once.VersionId);
    expect(await get(previous)).toMatchObject({ SecretString: 'first' });
    await expect(put('other', token)).rejects.toThrow('ResourceExistsException');
  });
});
