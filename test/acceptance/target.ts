import { existsSync, readFileSync } from 'node:fs';
import {
  GetSecretValueCommand,
  SecretsManagerClient,
  type SecretsManagerClientConfig,
} from '@aws-sdk/client-secrets-manager';

/** What `npm run acceptance` tells the suite, by the environment variable that carries it. */
export const variable = {
  /** Path of the outputs file. */
  outputs: 'ACCEPTANCE_OUTPUTS',
  /** Name of the run, which is in every identifier that it makes. */
  run: 'ACCEPTANCE_RUN',
  /** How long an effect may take, in seconds. */
  wait: 'ACCEPTANCE_WAIT',
} as const;

/** An identifier of this run and of no other: `acceptance-1f3a…-shop`. */
export function ofThisRun(name: string): string {
  return `${process.env[variable.run]}-${name}`;
}

/** A timestamp of this run: an old one would ring that deliveries come late, where nothing else comes. */
export const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

/** The outputs of the stack that the suite uses, as `cdk deploy --outputs-file` names them. */
const OUTPUT_NAMES = [
  'WebhookUrl',
  'WebhookSecretArn',
  'ShopCacheTable',
  'CastTable',
  'ContactPartnerTable',
  'ChatTopicArn',
  'ReviewTopicArn',
  'QuarantineQueueUrl',
  'UnroutedQueueUrl',
  'PayloadBucket',
] as const;

/** Outputs that are there where the stage keeps an archive; of its delivery streams, those that the suite uses. */
type ArchiveOutput = 'ArchiveBucket' | 'ShopUpdatedArchiveStream';

export type Outputs = Readonly<Record<(typeof OUTPUT_NAMES)[number], string>> &
  Readonly<Partial<Record<ArchiveOutput, string>>>;

export interface Target {
  readonly stackName: string;
  readonly outputs: Outputs;
}

/** What keeps the suite from starting: one clear text, exit code 1. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

/**
 * Reads a file in the form of `cdk deploy --outputs-file`: an object of stacks, each an object of outputs.
 * @throws TargetError where it is not that, holds another number of stacks than one, or lacks outputs,
 *   naming all of them
 */
export function readTarget(file: string): Target {
  if (!existsSync(file)) {
    throw new TargetError(`No file ${file}. Write it with: npx cdk deploy --outputs-file ${file}`);
  }
  const stacks = Object.entries(readStacks(file));
  const [stack] = stacks;
  if (stack === undefined || stacks.length > 1) {
    throw new TargetError(`${file} must hold the outputs of one stack, not of ${stacks.length}`);
  }
  const [stackName, values] = stack;
  const missing = OUTPUT_NAMES.filter((name) => typeof values[name] !== 'string' || values[name] === '');
  if (missing.length > 0) {
    throw new TargetError(`${file} lacks outputs of ${stackName}: ${missing.join(', ')}`);
  }
  if (!URL.canParse(String(values.WebhookUrl))) {
    throw new TargetError(`${file}: WebhookUrl is not a URL: ${values.WebhookUrl}`);
  }
  return { stackName, outputs: values as Outputs };
}

function readStacks(file: string): Record<string, Record<string, unknown>> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new TargetError(`${file} is not JSON`);
  }
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject(content) && Object.values(content as object).every(isObject)) {
    return content as Record<string, Record<string, unknown>>;
  }
  throw new TargetError(`${file} is not in the form that cdk deploy --outputs-file writes`);
}

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
