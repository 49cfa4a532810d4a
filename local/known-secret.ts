import {
  GetSecretValueCommand,
  InvalidRequestException,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { isLocalSecret, LOCAL_SECRET } from '../events/signing.ts';
import { UnusableStateError } from './aws/kept-state.ts';
import type { ClientSettings } from './deploy.ts';
import type { Resources } from './template/resources.ts';

interface Version {
  readonly value: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/**
 * Looks at what was kept, before any of it is changed: a secret that is kept is still accepted after another one is
 * given, as after a rotation, and strangers must not be let in while that is the one that everybody knows.
 * @param secret that the stack is about to start with
 * @param now milliseconds since the epoch
 * @throws UnusableStateError where the receiver would accept the known one beside it
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
        `${LOCAL_SECRET}, which everybody knows, was kept, and would still be accepted, as after a rotation: delete the folder to begin empty, or let no strangers in`,
      );
    }
  } finally {
    client.destroy();
  }
}

/** @returns what will be the secret's previous value, where the rotation to `secret` is not before `oldest` */
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

/** How long the receiver accepts the previous secret: for ever, where the template does not say it. */
function graceMilliseconds(resources: Resources): number {
  const seconds = resources
    .ofType('AWS::Lambda::Function')
    .flatMap(({ properties }) => properties.Environment.Variables.SECRET_GRACE_SECONDS ?? [])
    .map(Number);
  return seconds.length > 0 ? Math.max(...seconds) * 1000 : Number.POSITIVE_INFINITY;
}

/** @returns undefined where there is none, or the secret is marked for deletion, and will be made anew */
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
