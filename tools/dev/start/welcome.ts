import { existsSync } from 'node:fs';
import { WEBHOOK_PATH } from '../../../lambda/events/webhook-path.ts';
import type { LocalStack } from '../../../local/local-stack.ts';
import { CommandError } from '../../cli/terminal/command-error.ts';
import { KEPT_FOLDER, OUTPUTS_FILE } from '../../stage/local-folder.ts';

const RETRIES_ARE_FAST = `Retries are fast: ten attempts take about ten seconds, and a message whose function crashes returns after 5 s.
`;

/** Whether the stack begins empty or continues stored state. */
export function beginning(keep: boolean): string {
  const isThere = existsSync(KEPT_FOLDER);
  if (keep) return isThere ? `Continuing with ${KEPT_FOLDER}` : `Starting empty, stored in ${KEPT_FOLDER}`;
  return isThere
    ? `Starting empty. --keep would continue with ${KEPT_FOLDER}`
    : `Starting empty. --keep would store the state in ${KEPT_FOLDER}`;
}

interface Welcome {
  /** Undefined without the console. */
  readonly consoleUrl: string | undefined;
  /** Host names of tunnels to the webhook. */
  readonly publicHosts: readonly string[];
  readonly secret: string;
  readonly keep: boolean;
  readonly retryFast: boolean;
  /** Duration of the start. */
  readonly milliseconds: number;
}

export function welcome(
  { outputs, awsUrl, operator }: Pick<LocalStack, 'outputs' | 'awsUrl' | 'operator'>,
  about: Welcome,
): string {
  const { consoleUrl, publicHosts, secret, keep, retryFast, milliseconds } = about;
  const page = consoleUrl === undefined ? '' : `  Console   ${consoleUrl}\n`;
  const tunnels = publicHosts
    .map((host) => `            also, for anyone with the secret, https://${host}${WEBHOOK_PATH}\n`)
    .join('');
  return `
Ready in ${(milliseconds / 1000).toFixed(1)} s. Ctrl-C stops it${keep ? `. Its state is kept in ${KEPT_FOLDER}` : ' and deletes its state'}.

${page}  Webhook   ${outputs.WebhookUrl}
${tunnels}  Secret    ${secret}
  AWS       ${awsUrl} (region ${operator.region}, any access key)
  Outputs   ${OUTPUTS_FILE}

Send a signed event from another terminal:

  npm run send -- shop.updated
${retryFast ? `\n${RETRIES_ARE_FAST}` : ''}`;
}

/**
 * Runs other people's stacks together with ours, and prints the output of their functions.
 * @returns texts with their addresses
 * @throws CommandError if one contains something that cannot run here
 */
export async function runBeside(
  stack: Pick<LocalStack, 'runBeside'>,
  folders: readonly string[],
  print: (text: string) => void,
): Promise<string[]> {
  const texts: string[] = [];
  for (const folder of folders) {
    const { name, outputs } = await stack
      .runBeside(folder, ({ functionName, text }) => print(`${functionName}: ${text}`))
      .catch((error: Error) => {
        throw new CommandError(`${folder} cannot run next to the stack: ${error.message}`);
      });
    const lines = Object.entries(outputs).map(([output, value]) => `  ${output}: ${value}\n`);
    texts.push(`Also running: ${name}:\n\n${lines.join('')}`);
  }
  return texts;
}
