import {
  GetSecretValueCommand,
  InvalidRequestException,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { isLocalSecret, LOCAL_SECRET } from '../events/signing.ts';
import { UnusableStateError } from './aws/kept-state.ts';
import type { ClientSettings } from './client-settings.ts';
import type { Resources } from './template/resources.ts';

interface Version {
  readonly value: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/**
 * Checks the stored secret before it is rotated. The receiver would still accept the previous secret. So a stack that
 * others can reach must not start if that is the well-known one.
 * @param secret that the stack is about to start with
 * @param now milliseconds since the epoch
 * @throws UnusableStateError if the receiver would also accept the well-known secret
 */
export async function assertKnownSecretNotAccepted(
  resources: Resources,
  settings: ClientSettings,
  secret: string,
  now = Date.now(),
): Promise<void> {
  const client = new SecretsManagerClient(settings);
  const grace = graceMilliseconds(resources);
  try {
    for (const { name } of resources.ofType('AWS::SecretsManager::Secret')) {
      const accepted = await stillAccepted(client, name, secret, now - grace);
      if (accepted === undefined || !isLocalSecret(accepted)) continue;
      throw new UnusableStateError(
        `${LOCAL_SECRET} is the default secret that everybody knows. It is stored and would still be accepted, as after a rotation. Delete the folder to start empty, or start without --public-host`,
      );
    }
  } finally {
    client.destroy();
  }
}

/**
 * Sets a stored secret to the value of this start, as a rotation does. Signatures with the earlier value are still
 * accepted.
 * @returns whether the stored value was another one
 */
export async function rotateSecret(
  resources: Resources,
  settings: ClientSettings,
  secret: string,
): Promise<boolean> {
  const client = new SecretsManagerClient(settings);
  let isRotated = false;
  try {
    for (const { name } of resources.ofType('AWS::SecretsManager::Secret')) {
      const current = await version(client, name, 'AWSCURRENT');
      if (current === undefined || current.value === secret) continue;
      await client.send(new PutSecretValueCommand({ SecretId: name, SecretString: secret }));
      isRotated = true;
    }
    return isRotated;
  } finally {
    client.destroy();
  }
}

/** @returns the value that will be the previous one, if the rotation to `secret` is not older than `oldest` */
async function stillAccepted(
  client: SecretsManagerClient,
  name: string,
  secret: string,
  oldest: number,
): Promise<string | undefined> {
  const current = await version(client, name, 'AWSCURRENT');
  if (current === undefined) return undefined;
  if (current.value !== secret) return current.value;
  return current.createdAt < oldest ? undefined : (await version(client, name, 'AWSPREVIOUS'))?.value;
}

/** How long the receiver accepts the previous secret: forever, unless the template sets a limit. */
function graceMilliseconds(resources: Resources): number {
  const seconds = resources
    .ofType('AWS::Lambda::Function')
    .flatMap(({ properties }) => properties.Environment.Variables.SECRET_GRACE_SECONDS ?? [])
    .map(Number);
  return seconds.length > 0 ? Math.max(...seconds) * 1000 : Number.POSITIVE_INFINITY;
}

/** @returns undefined if the secret does not exist, or is marked for deletion and will be created again */
async function version(
  client: SecretsManagerClient,
  name: string,
  VersionStage: 'AWSCURRENT' | 'AWSPREVIOUS',
): Promise<Version | undefined> {
  try {
    const command = new GetSecretValueCommand({ SecretId: name, VersionStage });
    const { SecretString, CreatedDate } = await client.send(command);
    return { value: SecretString, createdAt: CreatedDate?.getTime() ?? Number.POSITIVE_INFINITY };
  } catch (error) {
    if (error instanceof ResourceNotFoundException || error instanceof InvalidRequestException) {
      return undefined;
    }
    throw error;
  }
}
