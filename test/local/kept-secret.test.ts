import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { expect, test } from '@jest/globals';
import { LOCAL_SECRET } from '../../events/signing.ts';
import { type AwsEndpointOptions, startAwsEndpoint } from '../../local/aws/endpoint.ts';
import { openKeptState } from '../../local/aws/kept-state.ts';
import { ACCOUNT_ID, type ClientSettings, clientSettings, REGION } from '../../local/client-settings.ts';
import { assertKnownSecretNotAccepted } from '../../local/kept-secret.ts';
import { readCloudAssembly } from '../../local/template/cloud-assembly.ts';
import { Resources } from '../../local/template/resources.ts';
import { startTestStack, testAssembly } from '../support/test-stack.ts';

const GRACE_MILLISECONDS = 24 * 60 * 60 * 1000;

interface Given {
  readonly resources: Resources;
  readonly settings: ClientSettings;
  readonly client: SecretsManagerClient;
  /** Name of the secret. */
  readonly name: string;
}

/** Gives an AWS endpoint the stack's secret, then others, as starts with `--keep` and another `--secret` do. */
async function withSecrets<Result>(
  [first, ...others]: readonly string[],
  use: (given: Given) => Promise<Result>,
  kept?: AwsEndpointOptions['kept'],
): Promise<Result> {
  const aws = await startAwsEndpoint({ port: 0, region: REGION, kept });
  const settings = clientSettings(aws.url, 'operator');
  const client = new SecretsManagerClient(settings);
  try {
    const place = { region: REGION, accountId: ACCOUNT_ID, awsUrl: aws.url, apiUrl: '' };
    const resources = new Resources(readCloudAssembly(testAssembly()), place);
    const name = resources.ofType('AWS::SecretsManager::Secret')[0]?.name ?? '';
    if (first !== undefined) await client.send(new CreateSecretCommand({ Name: name, SecretString: first }));
    for (const SecretString of others) {
      await client.send(new PutSecretValueCommand({ SecretId: name, SecretString }));
    }
    return await use({ resources, settings, client, name });
  } finally {
    client.destroy();
    await aws.close();
  }
}

/** What becomes of a start that lets strangers in, some time after the last rotation. */
const startedAfter = (secrets: readonly string[], secret: string, milliseconds = 0) =>
  withSecrets(secrets, ({ resources, settings }) =>
    assertKnownSecretNotAccepted(resources, settings, secret, Date.now() + milliseconds).then(
      () => 'let in',
      (error: Error) => `${error.name}: ${error.message}`,
    ),
  );

const REFUSED = /^UnusableStateError: local-webhook-secret, .*delete/;

test.each([
  ['is kept, and another one is given', [LOCAL_SECRET], 'own'],
  ['is kept with white space', [`${LOCAL_SECRET}\n`], 'own'],
  ['is kept as JSON', [JSON.stringify({ WEBHOOK_SECRET: LOCAL_SECRET })], 'own'],
  ['was kept until the last start', [LOCAL_SECRET, 'own'], 'own'],
])('strangers are not let in where the secret that everybody knows %s', async (_, kept, secret) => {
  expect(await startedAfter(kept, secret)).toMatch(REFUSED);
});

test.each([
  ['none is kept', [], 'own'],
  ['it is the one that is kept', ['own'], 'own'],
  ['another one of our own is kept', ['own'], 'newer'],
  ['the known one was kept two rotations ago', [LOCAL_SECRET, 'own', 'newer'], 'newer'],
  ['the known one is two rotations ago with this start', [LOCAL_SECRET, 'own'], 'newer'],
])('strangers are let in with a secret of our own where %s', async (_, kept, secret) => {
  expect(await startedAfter(kept, secret)).toBe('let in');
});

test('strangers are let in once the grace period after the known secret has ended, and not before', async () => {
  const kept = [LOCAL_SECRET, 'own'];
  expect(await startedAfter(kept, 'own', GRACE_MILLISECONDS - 60_000)).toMatch(REFUSED);
  expect(await startedAfter(kept, 'own', GRACE_MILLISECONDS + 1_000)).toBe('let in');
});

test('a kept secret that is marked for deletion is accepted no more', async () => {
  const asserted = withSecrets([LOCAL_SECRET], async ({ resources, settings, client, name }) => {
    await client.send(new DeleteSecretCommand({ SecretId: name }));
    await assertKnownSecretNotAccepted(resources, settings, 'own');
  });
  await expect(asserted).resolves.toBeUndefined();
});

test('a start that is refused changes nothing of what was kept: nor is the next one let in', async () => {
  const keep = await mkdtemp(join(tmpdir(), 'partner-webhooks-kept-'));
  try {
    const kept = await openKeptState(keep, console.error);
    await withSecrets([LOCAL_SECRET], async () => {}, kept);
    kept.close();
    for (const secret of ['own', 'third']) {
      await expect(startTestStack({ keep, publicHosts: ['abc.example'], secret })).rejects.toThrow(
        'would still be accepted',
      );
    }
  } finally {
    await rm(keep, { recursive: true, force: true });
  }
});
