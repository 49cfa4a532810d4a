import type { LocalStack } from 'local-aws';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { OUTPUTS_FILE } from '../stage/local-folder.ts';

const RETRIES_ARE_FAST = `Retries are fast: ten attempts take about ten seconds, and a message whose function crashes returns after 5 s.
`;

interface Welcome {
  /** Undefined if the console is not started. */
  readonly consoleUrl: string | undefined;
  /** Host names of tunnels to the webhook. */
  readonly publicHosts: readonly string[];
  readonly secret: string;
  readonly retryFast: boolean;
  /** Duration of the start, in milliseconds. */
  readonly milliseconds: number;
}

export function welcome(
  { outputs, awsUrl, operator }: Pick<LocalStack, 'outputs' | 'awsUrl' | 'operator'>,
  { consoleUrl, publicHosts, secret, retryFast, milliseconds }: Welcome,
): string {
  const page = consoleUrl === undefined ? '' : `  Console   ${consoleUrl}\n`;
  const tunnels = publicHosts
    .map((host) => `            also, for anyone with the secret, https://${host}${WEBHOOK_PATH}\n`)
    .join('');
  return `
Ready in ${(milliseconds / 1000).toFixed(1)} s. Ctrl-C stops it and deletes its state.

${page}  Webhook   ${outputs.WebhookUrl}
${tunnels}  Secret    ${secret}
  AWS       ${awsUrl} (region ${operator.region}, any access key)
  Outputs   ${OUTPUTS_FILE}

Send a signed event from another terminal:

  npx hookctl send shop.updated
${retryFast ? `\n${RETRIES_ARE_FAST}` : ''}`;
}
