import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { CommandError } from '../cli/terminal/command-error.ts';
import type { Stage } from './stage.ts';

/**
 * What deliveries to a stack are signed with: the bare secret, or that of a JSON object (docs/decisions.md, D12).
 * @throws CommandError where it is empty or binary
 */
export async function currentSecret({ secrets, webhookSecretArn }: Stage): Promise<string> {
  const command = new GetSecretValueCommand({ SecretId: webhookSecretArn });
  const { SecretString = '' } = await secrets.send(command);
  const secret = keyOf(SecretString) ?? SecretString;
  if (secret === '') throw new CommandError('The webhook secret in Secrets Manager is empty or binary');
  return secret;
}

function keyOf(text: string): string | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return String((JSON.parse(text) as Record<string, unknown>).WEBHOOK_SECRET ?? '');
  } catch {
    // A bare secret may begin with a brace.
    return undefined;
  }
}
