import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { LOCAL_SECRET } from '../events/signing.ts';
import { UnusableStateError } from './aws/kept/kept-state.ts';
import type { ClientSettings } from './deploy.ts';
import type { Resources } from './template/resources.ts';

/**
 * A secret that was kept is still accepted after another one is given, as after a rotation: strangers must not be let
 * in while it is the one that everybody knows.
 * @throws UnusableStateError where a secret of the template has been that
 */
export async function assertNeverKnown(resources: Resources, settings: ClientSettings): Promise<void> {
  const client = new SecretsManagerClient(settings);
  try {
    for (const { name } of resources.ofType('AWS::SecretsManager::Secret')) {
      if ((await previousValue(client, name)) === LOCAL_SECRET) {
        throw new UnusableStateError(
          `${LOCAL_SECRET}, which everybody knows, was kept, and goes on being accepted: delete the folder to begin empty, or let no strangers in`,
        );
      }
    }
  } finally {
    client.destroy();
  }
}

async function previousValue(client: SecretsManagerClient, name: string): Promise<string | undefined> {
  try {
    const command = new GetSecretValueCommand({ SecretId: name, VersionStage: 'AWSPREVIOUS' });
    return (await client.send(command)).SecretString;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}
