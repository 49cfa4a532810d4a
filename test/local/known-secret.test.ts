import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { startAwsEndpoint } from '../../local/aws/endpoint.ts';
import { deploy } from '../../local/deploy.ts';
import { assertNeverKnown } from '../../local/known-secret.ts';
import { ACCOUNT_ID, clientSettings, REGION } from '../../local/place.ts';
import { Resources } from '../../local/template/resources.ts';

/** Deploys with a secret, then gives it others, as starts with `--keep` and another `--secret` do. */
async function afterRotations(first: string, ...others: readonly string[]): Promise<string> {
  const aws = await startAwsEndpoint({ port: 0, region: REGION, accountId: ACCOUNT_ID });
  try {
    const template = {
      Resources: { Secret: { Type: 'AWS::SecretsManager::Secret', Properties: {} } },
      Outputs: {},
    };
    const resources = new Resources(
      { name: 'Stack', template, assetFolder: () => '' },
      { region: REGION, accountId: ACCOUNT_ID, awsUrl: aws.url, apiUrl: '' },
    );
    const settings = clientSettings(aws.url, 'operator');
    await deploy(resources, settings, { secret: first });
    const [secret] = resources.ofType('AWS::SecretsManager::Secret');
    const client = new SecretsManagerClient(settings);
    for (const SecretString of others) {
      await client.send(new PutSecretValueCommand({ SecretId: secret?.name, SecretString }));
    }
    return await assertNeverKnown(resources, settings).then(
      () => 'let in',
      (error: Error) => `${error.name}: ${error.message}`,
    );
  } finally {
    await aws.close();
  }
}

test('strangers are not let in while the secret that everybody knows is accepted after another one', async () => {
  expect(await afterRotations(LOCAL_SECRET, 'own')).toMatch(
    /^UnusableStateError: local-webhook-secret, .*delete/,
  );
});

test.each([
  ['was never another one', ['own']],
  ['was another one of our own', ['own', 'newer']],
  ['has not been the known one for two rotations', [LOCAL_SECRET, 'own', 'newer']],
])('strangers are let in where the secret %s', async (_, [first = '', ...others]) => {
  expect(await afterRotations(first, ...others)).toBe('let in');
});
