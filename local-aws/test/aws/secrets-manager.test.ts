import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  PutSecretValueCommand,
  UpdateSecretCommand,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsEndpoint } from '../../aws/endpoint.ts';
import { arnOf } from '../../aws/services.ts';
import { clientsOf, startEndpoint } from './support.ts';

let endpoint: AwsEndpoint;
let secrets: ReturnType<typeof clientsOf>['secrets'];
beforeAll(async () => {
  endpoint = await startEndpoint();
  secrets = clientsOf(endpoint).secrets;
});
afterAll(() => endpoint.close());

let count = 0;
/**
 * Creates a secret for a test.
 * @param SecretString its value. @default `first`
 */
async function secretWith(SecretString: string | undefined = 'first') {
  count += 1;
  const Name = `webhook/secret-${count}`;
  const { ARN = '', VersionId = '' } = await secrets.send(new CreateSecretCommand({ Name, SecretString }));
  return { Name, ARN, VersionId };
}
const get = (SecretId: string, rest: object = {}) =>
  secrets.send(new GetSecretValueCommand({ SecretId, ...rest }));
const put = (SecretId: string, SecretString: string, rest: object = {}) =>
  secrets.send(new PutSecretValueCommand({ SecretId, SecretString, ...rest }));

describe('a secret', () => {
  test('has an ARN with a suffix of six characters, and is found by ARN, partial ARN and name', async () => {
    const { ARN, Name } = await secretWith();
    expect(ARN).toMatch(new RegExp(`^${arnOf('secretsmanager', 'secret')}:${Name}-[A-Za-z0-9]{6}$`));
    for (const id of [Name, ARN, ARN.slice(0, -7)]) expect((await get(id)).SecretString).toBe('first');
    await expect(get('none')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret.",
    });
  });

  test('that exists cannot be created again', async () => {
    const again = new CreateSecretCommand({ Name: (await secretWith()).Name, SecretString: 'x' });
    await expect(secrets.send(again)).rejects.toMatchObject({ name: 'ResourceExistsException' });
  });

  test('without a value returns none', async () => {
    count += 1;
    const Name = `empty-${count}`;
    await secrets.send(new CreateSecretCommand({ Name }));
    await expect(get(Name)).rejects.toThrow(
      "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
    );
  });

  test('may be binary', async () => {
    const { Name } = await secretWith();
    const SecretBinary = new Uint8Array([0, 1, 255]);
    await secrets.send(new PutSecretValueCommand({ SecretId: Name, SecretBinary }));
    const value = await get(Name);
    expect([...(value.SecretBinary ?? [])]).toEqual([...SecretBinary]);
    expect(value.SecretString).toBeUndefined();
  });

  test('is listed with its versions', async () => {
    const { Name, VersionId } = await secretWith();
    const { SecretList } = await secrets.send(new ListSecretsCommand({}));
    expect(SecretList?.find((secret) => secret.Name === Name)?.SecretVersionsToStages).toEqual({
      [VersionId]: ['AWSCURRENT'],
    });
  });

  test('in its recovery window returns no value, and its name stays taken', async () => {
    const { Name } = await secretWith();
    await secrets.send(new DeleteSecretCommand({ SecretId: Name }));
    await expect(get(Name)).rejects.toMatchObject({ name: 'InvalidRequestException' });
    await expect(secrets.send(new CreateSecretCommand({ Name }))).rejects.toMatchObject({
      name: 'InvalidRequestException',
    });
    const described = await secrets.send(new DescribeSecretCommand({ SecretId: Name }));
    expect(described.DeletedDate).toBeInstanceOf(Date);
  });

  test('deleted without recovery is gone', async () => {
    const { Name } = await secretWith();
    await secrets.send(new DeleteSecretCommand({ SecretId: Name, ForceDeleteWithoutRecovery: true }));
    await expect(get(Name)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});

describe('a rotation', () => {
  test('makes the new value current and the old one previous', async () => {
    const { Name, VersionId } = await secretWith();
    const second = await put(Name, 'second');
    expect(second.VersionStages).toEqual(['AWSCURRENT']);
    const current = await get(Name);
    expect(current).toMatchObject({ SecretString: 'second', VersionId: second.VersionId });
    // Decision D12 depends on the age of a version, which is computed from this date.
    expect(Math.abs((current.CreatedDate?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
    const first = { SecretString: 'first', VersionId };
    expect(await get(Name, { VersionStage: 'AWSPREVIOUS' })).toMatchObject(first);
    expect(await get(Name, { VersionId })).toMatchObject(first);
  });

  test('by UpdateSecret does the same', async () => {
    const { Name } = await secretWith();
    await secrets.send(new UpdateSecretCommand({ SecretId: Name, SecretString: 'second' }));
    expect((await get(Name, { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('first');
  });

  test('in two steps changes nothing until the label moves, from the version that has it', async () => {
    const { Name, VersionId: first } = await secretWith();
    const { VersionId: pending } = await put(Name, 'second', { VersionStages: ['AWSPENDING'] });
    expect(await get(Name)).toMatchObject({ SecretString: 'first' });
    const moveFrom = (RemoveFromVersionId: string | undefined) =>
      secrets.send(
        new UpdateSecretVersionStageCommand({
          SecretId: Name,
          VersionStage: 'AWSCURRENT',
          MoveToVersionId: pending,
          RemoveFromVersionId,
        }),
      );
    await expect(moveFrom(pending)).rejects.toMatchObject({ name: 'InvalidParameterException' });
    await moveFrom(first);
    expect(await get(Name)).toMatchObject({ SecretString: 'second' });
    expect(await get(Name, { VersionStage: 'AWSPREVIOUS' })).toMatchObject({ SecretString: 'first' });
  });

  test('with the token of an earlier call does nothing', async () => {
    const { Name } = await secretWith();
    const ClientRequestToken = '0123456789abcdef0123456789abcdef';
    const once = await put(Name, 'second', { ClientRequestToken });
    const twice = await put(Name, 'second', { ClientRequestToken });
    expect(twice.VersionId).toBe(once.VersionId);
    expect((await get(Name, { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('first');
    await expect(put(Name, 'other', { ClientRequestToken })).rejects.toMatchObject({
      name: 'ResourceExistsException',
    });
  });
});
