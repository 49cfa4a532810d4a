import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { NOTIFICATION_RECORD_DAYS } from '../../lambda/limits.ts';
import { readTarget, readWebhookSecret, variable } from '../../test/acceptance/target.ts';
import { NOT_RUNNING, OUTPUTS_FILE } from '../stage/local-folder.ts';
import { ACCEPTANCE_PREFIX } from '../stage/payload-filter.ts';
import { hookctlCommand } from '../terminal/command.ts';
import { CommandError } from '../terminal/command-error.ts';
import { typedPath } from '../terminal/files.ts';
import { wholeNumber } from '../terminal/options.ts';
import { JEST, runProgram } from '../terminal/run-program.ts';
import { INTERRUPTED } from '../terminal/terminal.ts';

/** Runs the suite of `test/acceptance/` against a deployed stack. */
export const command = hookctlCommand(
  'acceptance',
  'Posts signed events, and checks every effect and every answer except 500.',
)
  .option(
    '--outputs <file>',
    'file that cdk deploy --outputs-file wrote (default: the local stack)',
    typedPath,
  )
  .option('--wait <seconds>', 'seconds to wait for an effect', wholeNumber(1, 999), 60)
  .addHelpText(
    'after',
    `
With --outputs, it uses your AWS region and credentials (AWS_REGION, AWS_PROFILE, AWS_ENDPOINT_URL, …).

It is safe while the partner sends. Its events are real:
- Alarms may fire: quarantine, unrouted and rejections.
- Subscribers of both topics get notifications. Idempotency records stay for ${NOTIFICATION_RECORD_DAYS} days.
- Everything else is named ${ACCEPTANCE_PREFIX}… and is deleted at the end, but not after Ctrl-C.`,
  )
  .action(async ({ outputs: given, wait }) => {
    if (given === undefined && !existsSync(OUTPUTS_FILE)) {
      throw new CommandError(`${NOT_RUNNING}. Or name a deployed stack: --outputs FILE`);
    }
    const file = given ?? OUTPUTS_FILE;
    const { stackName, outputs } = readTarget(file);
    const { configuredRegion, localEnvironment } = await import('../stage/find-stage.ts');
    if (given === undefined) {
      // The SDK would prefer a profile to the keys in the environment.
      delete process.env.AWS_PROFILE;
      Object.assign(process.env, localEnvironment(outputs));
    }
    const region = await configuredRegion(new SecretsManagerClient());
    await proveAccess(outputs.WebhookSecretArn, region, given === undefined);

    const run = `${ACCEPTANCE_PREFIX}${randomBytes(4).toString('hex')}`;
    const code = await runProgram([...JEST, '--config=test/acceptance/jest.config.js'], {
      [variable.outputs]: file,
      [variable.run]: run,
      [variable.wait]: String(wait),
    });
    // Ctrl-C interrupts Jest as well, which then does not delete what it created.
    if (code === INTERRUPTED) {
      console.error(`Interrupted: items and queues named ${run} were not removed`);
      process.exitCode = INTERRUPTED;
      return;
    }
    const elsewhere = process.env.AWS_ENDPOINT_URL ? ` at ${process.env.AWS_ENDPOINT_URL}` : '';
    console.log(
      `${run} ${code === 0 ? 'passed' : 'FAILED'}: ${stackName} in ${region}${elsewhere}, ${outputs.WebhookUrl}`,
    );
    process.exitCode = code;
  });

/**
 * Reads the secret once, because every delivery of the suite needs it.
 * @throws CommandError if the secret cannot be read: credentials of another account, a missing permission, or
 * no answer
 */
async function proveAccess(secretArn: string, region: string, isLocal: boolean): Promise<void> {
  try {
    await readWebhookSecret(secretArn);
  } catch (error) {
    const { name, message } = error as Error;
    const isRefused = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
    if (isRefused && isLocal) throw new CommandError(NOT_RUNNING);
    throw new CommandError(
      `Cannot read the secret ${secretArn} (WebhookSecretArn) in ${region}: ${name}: ${message}`,
    );
  }
}
