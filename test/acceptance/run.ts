import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { variable } from './settings.ts';
import { readTarget, TargetError } from './target.ts';
import { readWebhookSecret } from './webhook-secret.ts';

const HELP = `Usage: npm run acceptance -- --outputs FILE

Posts signed events to a deployed stack, and checks every answer of the contract but 500,
and every effect.

  --outputs FILE   what "npx cdk deploy --outputs-file FILE" wrote
  --wait SECONDS   how long an effect may take: by default 60, for functions that have to start
  --help           this text

Region and credentials are found as by every AWS tool (AWS_REGION, AWS_PROFILE, …); where the stack is
not in AWS, AWS_ENDPOINT_URL says where.

Other traffic may flow meanwhile. What the run makes bears its name, acceptance-…, and is removed at the
end, also of a failed run, but not where Ctrl-C ends it. Until then it is real: the alarms of the
quarantine and unrouted queues and of refused signatures may ring, and whoever is subscribed to the chat
and review topics is told of three events. That they were told is remembered for 90 days.`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      outputs: { type: 'string' },
      wait: { type: 'string', default: '60' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (values.outputs === undefined) {
    throw new TargetError(
      'Say which stack: --outputs FILE, which "npx cdk deploy --outputs-file FILE" wrote',
    );
  }
  if (!/^[1-9]\d{0,2}$/.test(values.wait)) {
    throw new TargetError(`--wait must be a whole number of seconds from 1 to 999, not '${values.wait}'`);
  }
  const { stackName, outputs } = readTarget(values.outputs);
  const region = await findRegion();
  await proveAccess(outputs.WebhookSecretArn, region);

  const run = `acceptance-${randomBytes(4).toString('hex')}`;
  const jest = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      'node_modules/jest/bin/jest.js',
      '--config=test/acceptance/jest.config.js',
    ],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        [variable.outputs]: values.outputs,
        [variable.run]: run,
        [variable.wait]: values.wait,
      },
    },
  );
  let interrupted = false;
  process.on('SIGINT', () => {
    // The terminal interrupts Jest as well, which then cleans nothing up.
    interrupted = true;
  });
  const [code] = (await once(jest, 'close')) as [number | null];
  if (interrupted) {
    console.error(`Interrupted: what bears the name ${run} has not been removed`);
    return 130;
  }
  const elsewhere = process.env.AWS_ENDPOINT_URL ? ` at ${process.env.AWS_ENDPOINT_URL}` : '';
  console.log(
    `${run} ${code === 0 ? 'passed' : 'FAILED'}: ${stackName} in ${region}${elsewhere}, ${outputs.WebhookUrl}`,
  );
  return code ?? 1;
}

/** @throws TargetError where there is no region, or there are no credentials */
async function findRegion(): Promise<string> {
  const { config } = new SecretsManagerClient();
  let region: string;
  try {
    region = await config.region();
  } catch {
    throw new TargetError('No AWS region. Set AWS_REGION to the one that the stack is in');
  }
  try {
    await config.credentials();
  } catch (error) {
    throw new TargetError(`No AWS credentials. Set AWS_PROFILE, or log in. ${(error as Error).message}`);
  }
  return region;
}

/**
 * Reads the secret, as every delivery is going to need it.
 * @throws TargetError where it cannot be read: the credentials are of another account, or may not
 */
async function proveAccess(secretArn: string, region: string): Promise<void> {
  try {
    await readWebhookSecret(secretArn);
  } catch (error) {
    const { name, message } = error as Error;
    throw new TargetError(
      `Cannot read the secret ${secretArn} (WebhookSecretArn) in ${region}: ${name}: ${message}`,
    );
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  const expected =
    error instanceof TargetError ||
    (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  console.error(expected ? (error as Error).message.replaceAll('\n', ' ') : error);
  process.exitCode = 1;
}
