import {
  GetSecretValueCommand,
  SecretsManagerClient,
  type SecretsManagerClientConfig,
} from '@aws-sdk/client-secrets-manager';

/**
 * The secret that deliveries are signed with: the stored value, or what a stored JSON object has under
 * `WEBHOOK_SECRET` (decision D12).
 * @param settings of the client. @default the SDK's own: its environment and files
 * @throws the client's error; Error where the stored value is no such secret. No message shows the secret.
 */
export async function readWebhookSecret(
  secretId: string,
  settings: SecretsManagerClientConfig = {},
): Promise<string> {
  const client = new SecretsManagerClient(settings);
  try {
    const { SecretString: stored } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    const secret = stored?.trimStart().startsWith('{') ? ofJson(stored) : stored;
    if (typeof secret === 'string' && secret !== '') return secret;
    throw new Error('The stored secret is empty, binary, or an object without WEBHOOK_SECRET');
  } finally {
    client.destroy();
  }
}

function ofJson(stored: string): unknown {
  try {
    return JSON.parse(stored).WEBHOOK_SECRET;
  } catch {
    // A bare secret may begin with a brace.
    return stored;
  }
}
